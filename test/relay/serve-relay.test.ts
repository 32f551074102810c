import { Metrics } from '@aws-lambda-powertools/metrics'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { keyIdOf } from '#core/api-key.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import { tokenCounts, tokenFacts } from '#core/pricing/token-usage.ts'
import { ResponseHeaders } from '#lambdas/relay/client-response.ts'
import { RelayExchange } from '#lambdas/relay/relay-exchange.ts'
import { sendJson } from '#lambdas/relay/send-response.ts'
import { measureRequest, serveRelay } from '#lambdas/relay/serve-relay.ts'
import { receivedRequest } from '#middleware/api-event.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { apiEvent } from '../middleware/api-exchange.ts'
import { FakeResponse } from './fake-response.ts'

describe('serveRelay', () => {
  let rig: RelayRig
  beforeAll(async () => {
    rig = await startRelayRig()
  })
  afterAll(() => rig.close())

  type Served = Partial<Parameters<typeof serveRelay>[1]> & {
    readonly key: string
    readonly headers?: Record<string, string>
  }

  /** Serves one request, and shows what was responded and which exchanges reached the operation. */
  async function serve(body: string | null, { key, headers = {}, ...operation }: Served) {
    const relayed: RelayExchange[] = []
    const response = new FakeResponse()
    const relay = async (exchange: RelayExchange) => {
      relayed.push(exchange)
      await sendJson(exchange.response, { statusCode: 200, pieces: [Buffer.from('{"ok":true}')] })
    }
    const event = apiEvent({
      path: '/v1/images/generations',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body,
    })
    const exchange = new RelayExchange({
      operation: 'create-image',
      errors: OPENAI_ERRORS,
      request: receivedRequest(event),
      requestId: 'request-1',
      headers: new ResponseHeaders('request-1'),
      response,
    })
    await serveRelay(exchange, { relay, takesBody: true, allowedOrigins: [], ...operation })
    return { statusCode: response.head?.statusCode, body: response.text, exchange, relayed }
  }

  it('gives the operation the caller and the body of the request', async () => {
    const { id, key } = await rig.tenant()
    const { statusCode, relayed } = await serve('{"model":"image-v3"}', { key })
    expect(statusCode).toBe(200)
    expect(relayed.map(({ caller, body }) => [caller.tenantId, body.json])).toEqual([[id, { model: 'image-v3' }]])
  })

  it.each([
    ['a body that is not JSON', '{', 400],
    ['a repeated field', '{"model":"a","model":"b"}', 400],
    ['a bomb of brackets', '['.repeat(129) + ']'.repeat(129), 400],
    ['a body above 5 MiB', JSON.stringify('x'.repeat(5 * 1024 * 1024)), 413],
  ])('refuses %s before the operation', async (_, body, expected) => {
    const { key } = await rig.tenant()
    const { statusCode, relayed } = await serve(body, { key })
    expect([statusCode, relayed]).toEqual([expected, []])
  })

  it('refuses an unknown key before the body is looked at, and logs the code', async () => {
    const { statusCode, relayed, exchange } = await serve('{', { key: 'nobody' })
    expect([statusCode, relayed]).toEqual([401, []])
    expect(exchange.facts).toMatchObject({ errorCode: 'invalid_api_key' })
  })

  it.each([
    ['invalid', '{'],
    ['too large', JSON.stringify('x'.repeat(5 * 1024 * 1024))],
  ])('tells a key that was revoked in the last minute of that, and not that its body is %s', async (_, body) => {
    const { key } = await rig.tenant()
    await serve('{}', { key })
    await revokeApiKey(rig.table, keyIdOf(key) ?? '', TESTER)
    expect((await serve(body, { key })).statusCode).toBe(401)
  })

  it('responds to a failure of the operation, and never rejects', async () => {
    const { key } = await rig.tenant()
    const relay = async () => {
      throw new UpstreamFailedError()
    }
    const { statusCode, body } = await serve('{}', { key, relay })
    expect([statusCode, JSON.parse(body).error.code]).toEqual([502, 'upstream_error'])
  })

  it('does not read the body of an operation without one, but for a strict request', async () => {
    const { key } = await rig.tenant()
    const headers = { prefer: 'handling=strict' }
    expect((await serve('{', { key, takesBody: false })).statusCode).toBe(200)
    expect((await serve('', { key, takesBody: false, headers })).statusCode).toBe(200)
    const refused = await serve('{"a":1}', { key, takesBody: false, headers })
    expect([refused.statusCode, refused.relayed]).toEqual([400, []])
  })

  it('lets scripts of the allowed origins read the response', async () => {
    const { key } = await rig.tenant()
    const allowedOrigins = ['https://app.example.com']
    const { exchange } = await serve('{}', { key, allowedOrigins, headers: { origin: 'https://app.example.com' } })
    expect(exchange.headers.complete({})).toMatchObject({ 'access-control-allow-origin': 'https://app.example.com' })
  })
})

describe('measureRequest', () => {
  const addMetric = jest.spyOn(Metrics.prototype, 'addMetric')
  const addMetadata = jest.spyOn(Metrics.prototype, 'addMetadata')
  beforeEach(() => {
    addMetric.mockClear()
    addMetadata.mockClear()
  })

  const FACTS = { model: 'chat-default', channelId: 'main', firstByteMilliseconds: 12 }
  const measured = () => Object.fromEntries(addMetric.mock.calls.map(([name, , value]) => [name, value]))

  it.each([
    [200, {}, 'relay_succeeded'],
    [200, { streamEnd: 'whole' }, 'relay_succeeded'],
    [200, { streamEnd: 'abandoned' }, 'relay_succeeded'],
    [200, { streamEnd: 'broken' }, 'relay_failed'],
    [402, {}, 'relay_rejected'],
    [429, {}, 'relay_rejected'],
    [500, {}, 'relay_failed'],
    [503, {}, 'relay_failed'],
  ])('counts status %d with %j as %s', (statusCode, facts, outcome) => {
    measureRequest(statusCode, { ...FACTS, ...facts })
    const outcomes = Object.keys(measured()).filter((name) => name.startsWith('relay_'))
    expect(outcomes).toEqual([outcome])
  })

  it('measures the first byte of a success, and of nothing else', () => {
    measureRequest(200, FACTS)
    expect(measured()).toMatchObject({ first_byte_milliseconds: 12 })
    addMetric.mockClear()
    measureRequest(402, FACTS)
    expect(measured()).toEqual({ relay_rejected: 1 })
  })

  it('measures the tokens and the bill', () => {
    const tokens = tokenFacts(tokenCounts({ input: 3, output: 4 }))
    measureRequest(200, { model: 'chat-default', ...tokens, billedCredits: 0.5 })
    expect(measured()).toEqual({ relay_succeeded: 1, input_tokens: 3, output_tokens: 4, billed_credits: 0.5 })
    expect(addMetadata.mock.calls).toEqual(
      expect.arrayContaining([
        ['model', 'chat-default'],
        ['channel', 'none'],
      ]),
    )
  })

  it.each([
    ['a request that named no model', 400, { model: undefined }],
    ['a client that left before a response', undefined, {}],
  ])('measures nothing for %s', (_, statusCode, facts) => {
    measureRequest(statusCode, { ...FACTS, ...facts })
    expect(addMetric).not.toHaveBeenCalled()
  })
})
