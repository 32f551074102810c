import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { handler } from '#lambdas/cdn-signing-key/handler.ts'
import { respondToCloudFormation, retryTransientErrors } from '#platform/aws/custom-resource.ts'
import { FakeCloudFront, FakeSecret } from '../../cdn-signing-key/key-services.ts'

describe('respond-to-cloudformation', () => {
  const received: { connection: string | undefined; contentType: string | undefined; body: unknown }[] = []
  let status = 200
  let server: Server

  beforeAll(async () => {
    server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString('utf8')
      const { connection, 'content-type': contentType } = request.headers
      received.push({ connection, contentType, body: JSON.parse(body) })
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve))
  })

  function eventOf(): CloudFormationCustomResourceEvent {
    const { port } = server.address() as AddressInfo
    return {
      RequestType: 'Create',
      ServiceToken: 'arn:function',
      ResponseURL: `http://127.0.0.1:${port}/response`,
      StackId: 'arn:stack',
      RequestId: 'request-1',
      LogicalResourceId: 'Files',
      ResourceType: 'Custom::ConsoleFiles',
      ResourceProperties: { ServiceToken: 'arn:function' },
    }
  }

  const success = { outcome: { Status: 'SUCCESS', Data: {} }, physicalResourceId: 'bucket' } as const

  it('names the stack, the request and the resource, on a connection of its own, without a content type, which the url does not sign', async () => {
    await respondToCloudFormation(eventOf(), success)
    expect(received.at(-1)).toEqual({
      connection: 'close',
      contentType: undefined,
      body: {
        Status: 'SUCCESS',
        Data: {},
        PhysicalResourceId: 'bucket',
        StackId: 'arn:stack',
        RequestId: 'request-1',
        LogicalResourceId: 'Files',
      },
    })
  })

  it('throws when the url refuses the response, so that Lambda repeats the event', async () => {
    status = 403
    await expect(respondToCloudFormation(eventOf(), success)).rejects.toThrow('refused the response with status 403')
  })
})

describe('retryPassingErrors:', () => {
  const GROUP_NAME = 'Reelgate-dev-video-urls-eu-west-1'
  /** Pauses are shortened by this factor. The clock runs at its normal speed, so nothing gives up early. */
  const HURRY = 40

  const environment = { ...process.env }
  const answers: Record<string, unknown>[] = []
  let server: Server
  let secret: FakeSecret
  let cloudFront: FakeCloudFront

  beforeAll(async () => {
    server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
      const chunks = await request.toArray()
      answers.push(JSON.parse(Buffer.concat(chunks).toString('utf8')))
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    Object.assign(process.env, { CDN_SIGNING_KEY_SECRET_ARN: 'arn:secret', CDN_KEY_GROUP_NAME: GROUP_NAME })
  })

  afterAll(async () => {
    process.env = environment
    await new Promise((resolve) => server.close(resolve))
  })

  beforeEach(() => {
    secret = new FakeSecret()
    cloudFront = new FakeCloudFront()
    answers.length = 0
    jest.spyOn(console, 'warn').mockImplementation(() => {})
    jest.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  /** Sends an event of CloudFormation, with short pauses. @returns what CloudFormation received. */
  async function send(RequestType: 'Create' | 'Delete') {
    const address = server.address()
    const event = {
      RequestType,
      ServiceToken: 'arn:function',
      ResponseURL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/answer`,
      StackId: 'stack',
      RequestId: 'request',
      LogicalResourceId: 'KeyGroup',
      PhysicalResourceId: GROUP_NAME,
      ResourceType: 'Custom::CdnKeyGroup',
      ResourceProperties: { ServiceToken: 'arn:function', KeyGroupName: GROUP_NAME },
    }
    const realTimer = globalThis.setTimeout
    const hurriedTimer = (callback: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) =>
      realTimer(callback, milliseconds / HURRY, ...values)
    Object.assign(globalThis, { setTimeout: hurriedTimer })
    try {
      await handler(event)
    } finally {
      Object.assign(globalThis, { setTimeout: realTimer })
    }
    return answers.at(-1)
  }

  /** Fails `times` times and counts its calls. */
  function failing(name: string, times = Number.POSITIVE_INFINITY) {
    let calls = 0
    const run = () => {
      calls += 1
      if (calls <= times) {
        throw Object.assign(new Error('arn:role is not authorized'), { name })
      }
    }
    return { run, calls: () => calls }
  }

  describe('a stack whose permissions have not spread yet', () => {
    it.each(['AccessDeniedException', 'ThrottlingException'])(
      'gets its key when the secret answers %s for a while',
      async (name) => {
        secret.beforeRead = failing(name, 3).run
        expect(await send('Create')).toMatchObject({ Status: 'SUCCESS', Data: { KeyGroupId: expect.any(String) } })
        expect(secret.keys.length).toBe(1)
      },
    )

    it.each(['AccessDenied', 'Throttling', 'TooManyRequestsException'])(
      'gets one key, and not one for each try, when CloudFront answers %s for a while',
      async (name) => {
        cloudFront.before = { CreatePublicKey: failing(name, 2).run, CreateKeyGroup: failing(name, 2).run }
        expect(await send('Create')).toMatchObject({ Status: 'SUCCESS' })
        expect([secret.keys.length, cloudFront.publicKeys.size, cloudFront.groups.size]).toEqual([1, 1, 1])
      },
    )

    it('is tried for about a minute, then fails with the missing permission', async () => {
      const { run, calls } = failing('AccessDenied')
      let milliseconds = 0
      const clock = {
        now: () => milliseconds,
        pause: async (pause: number) => {
          milliseconds += pause
        },
      }
      await expect(retryTransientErrors(async () => run(), clock)).rejects.toMatchObject({ name: 'AccessDenied' })
      expect(calls()).toBeGreaterThan(8)
      expect(milliseconds).toBeGreaterThan(50_000)
      expect(milliseconds).toBeLessThanOrEqual(60_000)
    })

    it('is deleted although the permission to read comes late', async () => {
      await send('Create')
      secret.beforeRead = failing('AccessDeniedException', 2).run
      expect(await send('Delete')).toMatchObject({ Status: 'SUCCESS' })
      expect(cloudFront.publicKeys.size).toBe(0)
    })
  })

  describe('an error that does not pass', () => {
    it.each(['TooManyPublicKeys', 'InvalidArgument', 'Error'])('fails the first try (%s)', async (name) => {
      const { run, calls } = failing(name)
      cloudFront.before = { CreatePublicKey: run }
      expect(await send('Create')).toMatchObject({ Status: 'FAILED', Reason: name })
      expect(calls()).toBe(1)
    })

    it('of an operator without permission fails the command at once', async () => {
      const { run, calls } = failing('AccessDeniedException')
      secret.beforeRead = run
      await expect(handler({ action: 'list' })).rejects.toThrow('could not be changed or listed')
      expect(calls()).toBe(1)
    })
  })
})
