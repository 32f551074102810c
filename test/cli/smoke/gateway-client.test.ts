import { describe, expect, it } from '@jest/globals'
import { GatewayClient, outOfTime, SmokeFailure, withoutQuery } from '../../../lib/cli/smoke/gateway-client.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { KEY, type StubAnswers, startSmokeStub } from './smoke-stub.ts'

describe('GatewayClient:', () => {
  const stub = useOpened(() => startSmokeStub(() => answers))
  let answers: StubAnswers = {}

  const client = (signal = new AbortController().signal, baseUrl = stub.origin) =>
    new GatewayClient({ baseUrl, apiKey: KEY, signal })

  describe('json', () => {
    it('sends the key and returns the object of the expected status', async () => {
      answers = { 'POST /v1/things': { status: 201, body: { id: 1 } } }
      expect(await client().json('/v1/things', { status: 201, body: { n: 1 } })).toEqual({ id: 1 })
      expect(stub.requests.at(-1)).toBe(`POST /v1/things Bearer ${KEY}`)
    })

    it('fails for another status with its request id, its body and where to look', async () => {
      answers = { 'GET /v1/things': { status: 401, body: 'not you', type: 'text/plain' } }
      await expect(client().json('/v1/things', { status: 200 })).rejects.toMatchObject({
        name: 'SmokeFailure',
        message: 'GET /v1/things returned 401 (x-request-id request-7) not you',
        lookAt: expect.stringContaining('key list'),
      })
    })

    it.each<[unknown, unknown]>([
      [
        {
          error: { message: 'the model m is of the kind embedding: use POST /v1/embeddings', code: 'model_not_found' },
        },
        undefined,
      ],
      [{ error: 'the model "m" does not exist or this api key may not use it' }, undefined],
      [{ error: 'video job not found' }, undefined],
      [{ error: { message: 'there is no route', code: 'not_found' } }, expect.stringContaining('--base-url')],
      [{ message: 'Not Found' }, expect.stringContaining('--base-url')],
    ])(
      'advises another address for a 404 only where the gateway did not say what it lacks: %j',
      async (body, lookAt) => {
        answers = { 'GET /v1/things': { status: 404, body } }
        await expect(client().json('/v1/things', { status: 200 })).rejects.toMatchObject({ lookAt })
      },
    )

    it('fails for a body that is not a JSON object', async () => {
      answers = { 'GET /v1/things': { status: 200, body: '<html>', type: 'text/html' } }
      await expect(client().json('/v1/things', { status: 200 })).rejects.toThrow('did not return a JSON object: <html>')
    })
  })

  describe('download', () => {
    it('sends no key, and names a url without its signature', async () => {
      answers = { 'GET /v/1.mp4': { status: 403, body: 'ended', type: 'text/plain' } }
      const failure = client().download(`${stub.origin}/v/1.mp4?Signature=secret`)
      await expect(failure).rejects.toThrow(`GET ${stub.origin}/v/1.mp4 returned 403`)
      expect(stub.requests.at(-1)).toBe('GET /v/1.mp4 without a key')
      expect(withoutQuery('https://a/b?Signature=secret')).toBe('https://a/b')
    })
  })

  describe('an unreachable address', () => {
    it('is named with the reason', async () => {
      await expect(client(undefined, 'http://127.0.0.1:1').send('/v1/models', { status: 200 })).rejects.toMatchObject({
        message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/v1\/models cannot be reached: /),
        lookAt: expect.stringContaining('--base-url'),
      })
    })

    it('reports the time limit of the whole test', async () => {
      await expect(client(AbortSignal.abort()).send('/v1/models', { status: 200 })).rejects.toThrow(
        'the time limit of the whole test is over',
      )
    })
  })
})

describe('SmokeFailure', () => {
  it('has an optional place to look at', () => {
    expect(new SmokeFailure('no video', 'the bucket').lookAt).toBe('the bucket')
    expect(new SmokeFailure('no video').lookAt).toBeUndefined()
  })

  it('names the option for more time', () => {
    expect(outOfTime()).toMatchObject({ name: 'SmokeFailure', lookAt: expect.stringContaining('--timeout-seconds') })
  })
})
