import { inspect } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import { logger } from '#platform/telemetry/logger.ts'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  FREE,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE_CHUNK,
  withoutCost,
  word,
} from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { answerText, fixtureNames, readFixture } from '../../upstream/providers/upstream-fixture.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }], max_tokens: 10 }
const STREAMED = { ...BODY, stream: true }

const rig = useOpened(startRelayRig)

async function nextTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise(setImmediate)
  }
}

function upstream() {
  const [first] = rig.upstreams
  if (first === undefined) {
    throw new TypeError('there is no upstream')
  }
  return first
}

describe('create-chat-completion 200', () => {
  it.each(fixtureNames(/^oai_chat(?!_stream)/))(
    '%s: reaches the client byte for byte but for the model and the cost',
    async (name) => {
      const text = answerText(readFixture(name))
      upstream().answerWith((response) => sendJson(response, text))
      const { statusCode, headers, text: relayed } = await rig.send(BODY)
      expect({ statusCode, relayed: withoutCost(relayed) }).toStrictEqual({ statusCode: 200, relayed: text })
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(relayed)),
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'openai-processing-ms': expect.stringMatching(/^\d+$/),
        'x-content-type-options': 'nosniff',
      })
    },
  )

  it.each(fixtureNames(/^oai_chat_stream/))('%s: streams byte for byte but for the cost', async (name) => {
    const text = readFixture(name).response.body_text ?? ''
    upstream().answerWith((response) => sendStream(response, text))
    const body = { ...STREAMED, stream_options: { include_usage: true } }
    const { statusCode, headers, text: relayed } = await rig.send(body)
    expect({ statusCode, relayed: withoutCost(relayed) }).toStrictEqual({ statusCode: 200, relayed: text })
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  })

  it('sends the body as the client wrote it, with the model of the upstream and nothing of the client’s key', async () => {
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    const body =
      '{ "messages":[{"role":"user","content":"Grüße 🌍"}], "temperature":1.0, "seed":9007199254740993, "model":"chat-a" }'
    await rig.send(body)
    const { path, text, headers } = upstream().calls.at(-1) ?? {}
    expect(path).toBe('/v1/chat/completions')
    expect(text).toBe(body.replace('chat-a', 'upstream-chat'))
    expect(headers?.authorization).toBe('Bearer none')
  })

  it('always asks the upstream of a stream for its usage, and keeps it from a client that did not', async () => {
    upstream().answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    const { text } = await rig.send(STREAMED)
    expect(upstream().calls.at(-1)?.body.stream_options).toStrictEqual({ include_usage: true })
    expect(text).toBe(`${word('Hi')}${FINISH}${DONE}`.replaceAll('upstream-chat', CHAT))
  })

  it('responds the same in one piece where a platform cannot stream', async () => {
    upstream().answerWith((response) => sendStream(response, word('Hi'), FINISH, DONE))
    const streamed = await rig.send(STREAMED)
    const { statusCode, headers, body } = await rig.sendBuffered(STREAMED)
    expect({ statusCode, body }).toStrictEqual({ statusCode: 200, body: streamed.text })
    expect(headers).not.toHaveProperty('content-length')
  })

  it('bills the usage, whole and streamed, and settles behind the response', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    const whole = await rig.send(BODY, { key, requestId: 'whole' })
    expect(whole.resolvedAtMilliseconds).toBeGreaterThanOrEqual(whole.endedAtMilliseconds)
    upstream().answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    await rig.send(STREAMED, { key, requestId: 'streamed' })
    // 9 tokens at 1,000 and 3 at 2,000 per million.
    const settled = (await rig.rows(id)).filter(({ kind }) => kind === 'settle')
    expect(settled).toMatchObject([
      { job: 'streamed', actual: 15_000n },
      { job: 'whole', actual: 15_000n },
    ])
    expect(await rig.balance(id)).toStrictEqual({ available: '0.97', held: '0', spent: '0.03' })
  })

  it('locks what the bytes of the body and the tokens of all choices can come to', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    const body = { ...BODY, n: 2 }
    await rig.send(body, { key })
    const locked = BigInt(JSON.stringify(body).length * 1_000 + 2 * 10 * 2_000)
    expect((await rig.rows(id)).find(({ kind }) => kind === 'reserve')).toMatchObject({ amount: locked })
  })

  it('bills a reply without a usage at the estimate', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, chatAnswer({ usage: null })))
    await rig.send(BODY, { key })
    const [settle] = await rig.rows(id)
    expect(settle?.actual).toBe(settle?.amount)
  })

  it.each([
    ['all zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ['zeros and a total', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 15 }],
  ])('bills a reply whose usage is %s at the estimate, whole and streamed', async (_, usage) => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, chatAnswer({ usage })))
    await rig.send(BODY, { key })
    const chunk = chatEvent({ choices: [], usage })
    upstream().answerWith((response) => sendStream(response, word('Hi'), FINISH, chunk, DONE))
    await rig.send(STREAMED, { key })
    const settled = (await rig.rows(id)).filter(({ kind }) => kind === 'settle')
    expect(settled).toHaveLength(2)
    expect(settled.every(({ actual, amount }) => actual === amount)).toBe(true)
  })

  it('streams a whole reply that begins with a byte order mark, and bills its usage once', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, `\ufeff${JSON.stringify(chatAnswer())}`))
    const { statusCode, text } = await rig.send(STREAMED, { key })
    expect(statusCode).toBe(200)
    expect(text).toMatch(/^data: \{.*"content":"Hi there".*\}\n\ndata: \[DONE\]\n\n$/)
    expect((await rig.rows(id)).filter(({ kind }) => kind === 'settle')).toMatchObject([{ actual: 15_000n }])
  })

  it('bills a stream whose client leaves before its first byte, and counts no failure', async () => {
    const errors = jest.spyOn(logger, 'error')
    const lines = jest.spyOn(logger, 'info')
    const arrived = Promise.withResolvers<void>()
    upstream().answerWith(async (response) => {
      arrived.resolve()
      await nextTurns(5)
      sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE)
    })
    const { id, key } = await rig.tenant()
    // Without a head, there is nothing that a client could read.
    const sent = rig.send(STREAMED, { key, client: { leavesAfter: arrived.promise } })
    await expect(sent).rejects.toMatchObject({ name: 'FramingError' })
    expect(errors.mock.calls).toEqual([])
    expect(lines.mock.calls.at(-1)).toMatchObject(['request', { statusCode: 200 }])
    expect((await rig.balance(id)).spent).not.toBe('0')
    jest.restoreAllMocks()
  })

  it('moves no money for a model without a price', async () => {
    const { id, key } = await rig.tenant('0')
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    expect((await rig.send({ ...BODY, model: FREE }, { key })).statusCode).toBe(200)
    expect(await rig.rows(id)).toHaveLength(0)
  })
})

describe('a refusal of the upstream', () => {
  it.each(['oai_err_400_context', 'oai_err_400_max_tokens', 'oai_err_404_model'])(
    '%s: is relayed with its status and every byte, and not billed',
    async (name) => {
      const { id, key } = await rig.tenant('1')
      const fixture = readFixture(name)
      upstream().answerWith((response) => sendJson(response, answerText(fixture), fixture.response.status))
      const { statusCode, text } = await rig.send(STREAMED, { key })
      expect({ statusCode, text }).toStrictEqual({ statusCode: fixture.response.status, text: answerText(fixture) })
      expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
      expect((await rig.rows(id))[0]?.kind).toBe('release')
    },
  )

  it.each([
    ['create-chat-completion 502: oai_err_401', 502, 'upstream_auth'],
    ['create-chat-completion 429: oai_err_429_rate', 429, 'upstream_rate_limited'],
    ['create-chat-completion 502: oai_err_429_quota', 502, 'upstream_quota'],
    ['create-chat-completion 502: oai_err_500', 502, 'upstream_unavailable'],
    ['create-chat-completion 502: oai_err_503', 502, 'upstream_unavailable'],
  ])('%s: becomes the gateway’s own, without the upstream’s words', async (title, status, code) => {
    const fixture = readFixture(title.split(': ')[1] ?? '')
    upstream().answerWith((response) => sendJson(response, answerText(fixture), fixture.response.status))
    const { statusCode, text, headers } = await rig.send(BODY)
    expect(statusCode).toBe(status)
    expect(JSON.parse(text)).toStrictEqual({
      error: { message: expect.any(String), type: expect.any(String), param: null, code },
    })
    expect(headers['retry-after']).toEqual(status === 429 ? expect.stringMatching(/^\d+$/) : undefined)
  })

  it('create-chat-completion 502: a success that is no JSON object is a failure', async () => {
    for (const body of ['<html>', '[]', '"text"', '{"choices":']) {
      upstream().answerWith((response) => sendJson(response, body))
      expect((await rig.send(BODY)).statusCode).toBe(502)
    }
  })
})

describe('create-chat-completion 502: a reply of no use', () => {
  it('is not billed when no stream can be made of it, and nothing of it is logged', async () => {
    const { id, key } = await rig.tenant('1')
    const logged = jest.spyOn(logger, 'error')
    for (const choices of [[null], ['secret words'], [{ index: 0, message: 'secret words' }]]) {
      upstream().answerWith((response) => sendJson(response, chatAnswer({ choices })))
      const { statusCode, text } = await rig.send(STREAMED, { key })
      expect({ statusCode, text }).toMatchObject({ statusCode: 502, text: expect.stringContaining('upstream_error') })
    }
    expect(logged.mock.calls).toHaveLength(3)
    expect(inspect(logged.mock.calls, { depth: 9 })).not.toContain('secret words')
    logged.mockRestore()
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })

  it('is not billed when it has an error and empty choices, whole or streamed', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, { error: { message: 'boom' }, choices: [] }))
    expect((await rig.send(BODY, { key })).statusCode).toBe(502)
    expect((await rig.send(STREAMED, { key })).statusCode).toBe(502)
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })
})

describe('create-chat-completion: a request that goes nowhere', () => {
  it('create-chat-completion 413: a body above 5 MB', async () => {
    const large = { ...BODY, messages: [{ role: 'user', content: 'x'.repeat(5 * 1024 * 1024) }] }
    const { statusCode, text } = await rig.send(large)
    expect(statusCode).toBe(413)
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'request_body_too_large' } })
  })

  it.each([
    ['malformed JSON', '{"model":'],
    ['a list', '[]'],
    ['null', 'null'],
    [
      'a member that is written twice',
      '{"model":"chat-a","n":1,"messages":[{"role":"user","content":"hi"}],"\\u006e":100}',
    ],
    ['a bomb of brackets', `{"model":${'['.repeat(100_000)}`],
  ])('create-chat-completion 400: %s is refused before any money moves', async (_, body) => {
    const { id, key } = await rig.tenant('1')
    const before = upstream().calls.length
    const { statusCode, text } = await rig.send(body, { key })
    expect(statusCode).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error' } })
    expect(await rig.rows(id)).toHaveLength(0)
    expect(upstream().calls).toHaveLength(before)
  })

  it('create-chat-completion 402: too little quota, in the shape that SDKs read', async () => {
    const { id, key } = await rig.tenant('0.0001')
    const { statusCode, text } = await rig.send(BODY, { key })
    expect(statusCode).toBe(402)
    expect(JSON.parse(text)).toStrictEqual({
      error: {
        message: expect.stringMatching(
          /^insufficient quota for this request: 0\.\d+ credits are needed, but 0\.0001 are available/,
        ),
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    })
    expect(await rig.balance(id)).toMatchObject({ available: '0.0001', held: '0' })
  })

  it('create-chat-completion 401: a key that nobody has, before anything is said of the body', async () => {
    const { statusCode, text } = await rig.send('{', { key: 'nobody' })
    expect(statusCode).toBe(401)
    expect(JSON.parse(text)).toStrictEqual({
      error: { message: 'invalid api key', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
    })
  })
})

describe('one tenant with many requests at once', () => {
  it('never spends more than it has', async () => {
    const { id, key } = await rig.tenant('0.5')
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    const bodies = Array.from({ length: 40 }, (_, index) => ({ ...BODY, user: `u${index}` }))
    const answers = await Promise.all(bodies.map((body) => rig.send(body, { key })))
    const statuses = answers.map(({ statusCode }) => statusCode)
    const served = statuses.filter((status) => status === 200).length
    expect(statuses.every((status) => status === 200 || status === 402)).toBe(true)
    expect(served).toBeGreaterThan(0)
    expect(served).toBeLessThan(40)
    const { available, held, spent } = await rig.balance(id)
    expect(held).toBe('0')
    expect(Number(spent)).toBeCloseTo(served * 0.015, 6)
    expect(Number(available)).toBeCloseTo(0.5 - served * 0.015, 6)
  })
})

describe('the id of a request', () => {
  it('is not the client’s to choose: two requests under one gateway id are billed twice', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    // API Gateway takes its id from a header of the client; every event of this rig has the same one.
    const ids = [await rig.send(BODY, { key }), await rig.send(BODY, { key })].map(
      ({ headers }) => headers['x-request-id'],
    )
    expect(new Set(ids).size).toBe(2)
    expect((await rig.rows(id)).filter(({ kind }) => kind === 'settle').map(({ job }) => job)).toStrictEqual(
      ids.toReversed(),
    )
  })
})
