import { once } from 'node:events'
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '#core/api/routes.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

const GOOD = { model: 'famB-1.1-t2v', prompt: 'a cat runs on grass' }
const STRICT = { prefer: 'handling=strict' }
/** A valid body for each operation that takes one. */
const BODIES: Readonly<Record<string, object>> = {
  'create-video-job': GOOD,
  'create-video-quote': GOOD,
  'create-chat-completion': { model: 'chat-default', messages: [{ role: 'user', content: 'hi' }] },
  'create-completion': { model: 'chat-default', prompt: 'hi' },
  'create-embedding': { model: 'text-embedding-3-small', input: 'hi' },
  'create-image': { model: 'image-v2', prompt: 'a fox' },
}

let gateway: Gateway
let jobId: string

beforeAll(async () => {
  gateway = await startGateway()
  jobId = String((await gateway.api.create(GOOD)).json.id)
  // From then on the balance changes only if a refused request spends something.
  await gateway.api.until(jobId, 'succeeded')
})
afterAll(async () => {
  await gateway.stop()
})

const pathOf = (template: string) => template.replace('{job_id}', jobId).replace('{model}', 'chat-default')

async function balance() {
  const { available, held } = Object(await gateway.admin('tenant', 'show', '--tenant', 'demo'))
  return { available, held }
}

// Titles begin with operation and status: a test over routes.ts reads them.
describe('cancel-video-job 400, resend-video-callback 400, get-video-job 400, delete-video-job 400, list-models 400, get-model 400, get-openapi-document 400, get-health 400', () => {
  it.each([...ROUTES])('$operation: a strict request with an unknown query parameter is refused', async (route) => {
    const before = await balance()
    const body = BODIES[route.operation] && JSON.stringify(BODIES[route.operation])
    const answer = await gateway.api.send(route.method, `${pathOf(route.path)}?no-such=1`, body, STRICT)
    expect({ status: answer.status, applied: answer.headers.get('preference-applied') }).toStrictEqual({
      status: 400,
      applied: 'handling=strict',
    })
    const message = 'the query parameter `no-such` would be ignored: correct its name or leave it out'
    expect(answer.json).toStrictEqual(
      route.path.startsWith('/v1/video/')
        ? { error: 'invalid request body', details: [{ path: 'no-such', message }] }
        : { error: { message, type: 'invalid_request_error', param: 'no-such', code: null } },
    )
    expect(await balance()).toStrictEqual(before)
  })

  it('delete-video-job 400: the job of a refused request is still there', async () => {
    const job = `/v1/video/generations/${jobId}`
    expect((await gateway.api.send('DELETE', job, '{"force":true}', STRICT)).json).toMatchObject({
      details: [{ path: 'force' }],
    })
    expect((await gateway.api.get(jobId)).status).toBe(200)
  })

  it('create-video-job 400: a strict request with unknown fields creates nothing', async () => {
    const before = (await gateway.api.list('?limit=100')).text.length
    const { status, json } = await gateway.api.create({ ...GOOD, durration: 5, ſize: 1 }, STRICT)
    expect({ status, json }).toMatchObject({
      status: 400,
      json: { details: [{ path: 'durration' }, { path: 'ſize' }] },
    })
    expect((await gateway.api.list('?limit=100')).text).toHaveLength(before)
  })

  it('a 401 comes before a strict refusal', async () => {
    const { status } = await gateway.api.withKey('other').send('GET', '/v1/models?no-such=1', undefined, STRICT)
    expect(status).toBe(401)
  })
})

describe('a request that is not strict', () => {
  it('is served, and the response names what was ignored', async () => {
    const { status, headers } = await gateway.api.send('GET', '/v1/video/generations?limt=1&limit=1')
    expect({ status, ignored: headers.get('x-reelgate-ignored') }).toStrictEqual({ status: 200, ignored: 'limt' })
  })

  it('is what an unknown path makes of a strict one', async () => {
    expect((await gateway.api.send('GET', '/v1/nothing?a=1', undefined, STRICT)).status).toBe(404)
    expect((await gateway.api.send('PUT', '/v1/models?a=1', '{"a":1}', STRICT)).status).toBe(405)
  })
})

describe('several Prefer lines', () => {
  it.each([
    [['respond-async', 'handling=strict'], 400],
    [['handling=strict', 'handling=lenient'], 400],
    [['handling=lenient', 'handling=strict'], 200],
  ])('%j: status %i', async (prefer, status) => {
    const headers = [
      'host',
      new URL(gateway.url).host,
      'authorization',
      'Bearer e2e-key',
      ...prefer.flatMap((line) => ['Prefer', line]),
    ]
    const sent = request(`${gateway.url}/v1/models?no-such=1`, { headers }).end()
    const [response] = await once(sent, 'response')
    const body = await readText(response)
    expect({ status: response.statusCode, isNamed: body.includes('no-such') }).toStrictEqual({
      status,
      isNamed: status === 400,
    })
  })
})
