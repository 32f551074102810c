import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HttpServer } from '#adapters/http-server/http-server.ts'
import { handler } from '#lambdas/relay-smoke/handler.ts'
import { smokeRelay } from '#lambdas/relay-smoke/smoke-relay.ts'
import { startSecretsStub } from '../events/secrets-stub.ts'

const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:front-door'
const environment = { ...process.env }
const responses: { Status?: string; Reason?: string }[] = []
let secrets: HttpServer
let cloudFormation: Server
let relay: Server
let answer: RequestListener
let asked: string[]

function origin(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What a relay server of the release `new` answers. */
const healthy: RequestListener = ({ url, headers }, response) => {
  if (headers['x-reelgate-front-door'] !== 'now') {
    response.writeHead(404).end('{}')
  } else if (url === '/health') {
    response.writeHead(200, { 'x-reelgate-release': 'new' }).end('{}')
  } else {
    response.writeHead(String(headers.authorization).startsWith('Bearer smoke-') ? 401 : 500).end('{}')
  }
}

beforeAll(async () => {
  secrets = await startSecretsStub(new Map([[SECRET_ARN, JSON.stringify({ current: 'now', previous: 'before' })]]))
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = `http://127.0.0.1:${secrets.port}`
  Object.assign(process.env, {
    FRONT_DOOR_SECRET_ARN: SECRET_ARN,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
  cloudFormation = createServer(async (request, response) => {
    responses.push(JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')))
    response.end()
  })
  relay = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => answer(request, response))
  })
  for (const server of [cloudFormation, relay]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  }
})
afterAll(async () => {
  process.env = environment
  await secrets.close()
  for (const server of [cloudFormation, relay]) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
beforeEach(() => {
  asked = []
  answer = healthy
})

async function run(RequestType: 'Create' | 'Delete', properties: object = { Origin: origin(relay), Release: 'new' }) {
  await handler({
    RequestType,
    ServiceToken: 'arn:function',
    ResponseURL: `${origin(cloudFormation)}/response`,
    StackId: 'arn:stack',
    RequestId: 'request-1',
    LogicalResourceId: 'Proof',
    PhysicalResourceId: 'Proof',
    ResourceType: 'Custom::RelaySmoke',
    ResourceProperties: { ServiceToken: 'arn:function', ...properties },
  } as CloudFormationCustomResourceEvent)
  return responses.at(-1)
}

/** Time passes with each pause and each look at the clock. */
function quickly() {
  let passed = 0
  return {
    now: () => passed,
    pause: async (milliseconds: number) => {
      passed += milliseconds
    },
  }
}

const candidate = () => ({ origin: origin(relay), release: 'new', secret: 'now' })

describe('relay-smoke', () => {
  it('lets a release pass that serves with the secret of the front door alone', async () => {
    expect(await run('Create')).toMatchObject({ Status: 'SUCCESS' })
    expect(asked).toEqual(['GET /health', 'GET /v1/models', 'POST /v1/chat/completions', 'GET /health'])
  })

  it('waits until the new release serves, and not an earlier one', async () => {
    let starts = 0
    answer = (request, response) => {
      starts += 1
      if (starts === 1) {
        response.writeHead(502).end()
      } else if (starts === 2) {
        response.writeHead(200, { 'x-reelgate-release': 'old' }).end('{}')
      } else {
        healthy(request, response)
      }
    }
    await smokeRelay(candidate(), quickly())
    expect(asked).toHaveLength(6)
  })

  it.each<[string, RequestListener, string]>([
    [
      'does not start',
      (_, response) => response.writeHead(500, { 'lambda-web-error-type': 'Application.InitCodeError' }).end(),
      'health of the new release: status 500 instead of 200 (Application.InitCodeError)',
    ],
    [
      'is another one',
      (_, response) => response.writeHead(200, { 'x-reelgate-release': 'old' }).end(),
      'health of the new release: another release responds',
    ],
    [
      'cannot read the table',
      (request, response) =>
        request.url === '/v1/models' ? response.writeHead(503).end() : healthy(request, response),
      'models with an unknown key: status 503 instead of 401',
    ],
    [
      'breaks off',
      (request, response) => (request.method === 'POST' ? response.destroy() : healthy(request, response)),
      'chat with an unknown key: no response',
    ],
    [
      'lets everybody in',
      (request, response) =>
        healthy(Object.assign(request, { headers: { ...request.headers, 'x-reelgate-front-door': 'now' } }), response),
      'health without the secret of the front door: status 200 instead of 404',
    ],
  ])('fails a release that %s, after two minutes', async (_, broken, reason) => {
    answer = broken
    const clock = quickly()
    await expect(smokeRelay(candidate(), clock)).rejects.toThrow(reason)
    expect(clock.now()).toBeGreaterThanOrEqual(118_000)
    expect(clock.now()).toBeLessThanOrEqual(120_000)
  })

  it('tells CloudFormation what is missing, and never the secret', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const response = await run('Create', { Origin: 'nowhere', Release: 'new' })
    expect(response?.Status).toBe('FAILED')
    expect(`${JSON.stringify(response)}${JSON.stringify(logged.mock.calls)}`).not.toContain('now"')
    logged.mockRestore()
  })

  it('has nothing to undo', async () => {
    expect(await run('Delete', {})).toMatchObject({ Status: 'SUCCESS' })
    expect(asked).toEqual([])
  })
})
