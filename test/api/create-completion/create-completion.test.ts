import { describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
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
import { chunksOf, textsOf } from '../../relay/protocols/completion-chunks.ts'
import { mapExchanges } from '../../relay/protocols/completion-fixture.ts'
import { readFixture } from '../../upstream/providers/upstream-fixture.ts'

const operation = 'create-completion'
const BODY = { model: CHAT, prompt: 'Once', max_tokens: 10 }

const rig = useOpened(startRelayRig)

function upstream() {
  const [first] = rig.upstreams
  if (first === undefined) {
    throw new TypeError('there is no upstream')
  }
  return first
}

/** The prompt that a chat call is for. */
const promptOf = (body: Record<string, unknown>): string => Object(body.messages)[0].content

const bodyOf = (name: string): object => Object(readFixture(name).request.body)

describe('create-completion 200', () => {
  it('answers the recorded request with several prompts, n, echo and suffix to the byte', async () => {
    const exchanges = mapExchanges()
    const before = upstream().calls.length
    upstream().answerWith((response, { body }) => {
      const found = exchanges.find(({ request }) => promptOf(request) === promptOf(body))
      sendJson(response, found?.response)
    })
    const { statusCode, headers, text } = await rig.send(bodyOf('oai_completions_map'), { operation })
    const expected = JSON.stringify(readFixture('oai_completions_map').response.body)
    expect({ statusCode, text: withoutCost(text) }).toStrictEqual({ statusCode: 200, text: expected })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      'x-request-id': expect.any(String),
    })
    const calls = upstream().calls.slice(before)
    expect(calls.map(({ path }) => path)).toStrictEqual(['/v1/chat/completions', '/v1/chat/completions'])
    const sent = calls.map(({ body }) => body).toSorted((left, right) => (promptOf(left) < promptOf(right) ? -1 : 1))
    expect(sent).toStrictEqual(exchanges.map(({ request }) => ({ ...request, model: 'upstream-chat' })))
  })

  it('answers the recorded request with one prompt to the byte', async () => {
    upstream().answerWith((response) =>
      sendJson(
        response,
        chatAnswer({
          choices: [{ index: 0, message: { role: 'assistant', content: ' a time' }, finish_reason: 'length' }],
          usage: { prompt_tokens: 2, completion_tokens: 16, total_tokens: 18 },
        }),
      ),
    )
    const { text } = await rig.send(bodyOf('oai_completions_simple'), { operation })
    expect(withoutCost(text)).toBe(JSON.stringify(readFixture('oai_completions_simple').response.body))
  })

  it('streams the completions of all prompts, with one usage and one [DONE]', async () => {
    upstream().answerWith((response, { body }) =>
      sendStream(response, word(`${promptOf(body)} upon`), word(' a time'), FINISH, USAGE_CHUNK, DONE),
    )
    const body = { ...BODY, prompt: ['Once', 'Twice', 'Thrice'], echo: true, suffix: '!', stream: true }
    const { statusCode, headers, text } = await rig.send(
      { ...body, stream_options: { include_usage: true } },
      { operation },
    )
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' })
    expect(textsOf(text)).toStrictEqual(
      new Map([
        [0, { text: 'OnceOnce upon a time!', reason: 'stop' }],
        [1, { text: 'TwiceTwice upon a time!', reason: 'stop' }],
        [2, { text: 'ThriceThrice upon a time!', reason: 'stop' }],
      ]),
    )
    expect(chunksOf(text).at(-1)?.usage).toStrictEqual({
      prompt_tokens: 27,
      completion_tokens: 9,
      total_tokens: 36,
      cost: 0.045,
    })
    expect(text.match(/data: \[DONE\]/g)).toHaveLength(1)
    expect(upstream().calls.at(-1)?.body.stream_options).toStrictEqual({ include_usage: true })
  })

  it('keeps characters whole that are cut between two chunks of an upstream', async () => {
    const bytes = Buffer.from(`${word('Grüße 🌍')}${FINISH}${DONE}`)
    upstream().answerWith(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const byte of bytes) {
        response.write(Buffer.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    })
    const { text } = await rig.send({ ...BODY, stream: true }, { operation })
    expect(textsOf(text).get(0)?.text).toBe('Grüße 🌍')
  })

  it('streams from an upstream that does not', async () => {
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    const { headers, text } = await rig.send({ ...BODY, stream: true, echo: true }, { operation })
    expect(headers['content-type']).toBe('text/event-stream')
    expect(textsOf(text)).toStrictEqual(new Map([[0, { text: 'OnceHi there', reason: 'stop' }]]))
  })

  it.each(['Text/Event-Stream; charset=UTF-8', undefined])(
    'streams from an upstream that says %s',
    async (contentType) => {
      const events = word('Hi') + FINISH + USAGE_CHUNK + DONE
      upstream().answerWith((response) => {
        response.writeHead(200, contentType === undefined ? {} : { 'content-type': contentType }).end(events)
      })
      const { statusCode, text } = await rig.send({ ...BODY, stream: true }, { operation })
      expect(statusCode).toBe(200)
      expect([...textsOf(text).values()]).toStrictEqual([{ text: 'Hi', reason: 'stop' }])
    },
  )

  it('responds the same in one piece where a platform cannot stream', async () => {
    upstream().answerWith((response) => sendStream(response, word('Hi'), FINISH, DONE))
    const body = { ...BODY, stream: true }
    // The second may have turned between the two.
    const untimed = (text = '') => text.replaceAll(/"created":\d{10}/g, '"created":0')
    const streamed = await rig.send(body, { operation })
    const whole = await rig.sendBuffered(body, { operation })
    expect(untimed(whole.body)).toBe(untimed(streamed.text))
  })

  it.each([false, true])(
    'reserves once for all prompts and bills the sum of their usages (stream: %s)',
    async (stream) => {
      const { id, key } = await rig.tenant('1')
      upstream().answerWith((response) =>
        stream ? sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE) : sendJson(response, chatAnswer()),
      )
      await rig.send({ ...BODY, prompt: ['a', 'b', 'c'], stream }, { operation, key })
      const rows = await rig.rows(id)
      expect(rows.map(({ kind }) => kind)).toStrictEqual(['settle', 'reserve'])
      // Three times 9 tokens at 1,000 and 3 at 2,000 per million.
      expect(rows[0]).toMatchObject({ actual: 45_000n })
      expect(await rig.balance(id)).toStrictEqual({ available: '0.955', held: '0', spent: '0.045' })
    },
  )

  it('bills at the estimate what comes without a usage, prompt by prompt', async () => {
    const { id, key } = await rig.tenant('1')
    upstream().answerWith((response, { body }) =>
      sendJson(response, chatAnswer(promptOf(body) === 'silent' ? { usage: null } : {})),
    )
    const alone = await rig.send({ ...BODY, prompt: 'silent' }, { operation, key })
    expect(JSON.parse(alone.text)).not.toHaveProperty('usage')
    const [settled] = await rig.rows(id)
    expect(settled?.actual).toBe(settled?.amount)
    await rig.send({ ...BODY, prompt: ['silent', 'loud'] }, { operation, key })
    const [both] = await rig.rows(id)
    expect(both?.actual).toBe(BigInt(settled?.actual ?? 0) + 15_000n)
  })

  it('moves no money for a model without a price', async () => {
    const { id, key } = await rig.tenant('0')
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    expect((await rig.send({ ...BODY, model: FREE }, { operation, key })).statusCode).toBe(200)
    expect(await rig.rows(id)).toHaveLength(0)
  })
})

describe('create-completion: a request that goes nowhere', () => {
  it.each([
    [
      'create-completion 400: token ids',
      { prompt: [1, 2, 3] },
      400,
      { param: 'prompt', type: 'invalid_request_error' },
    ],
    ['create-completion 400: no prompt', { prompt: undefined }, 400, { param: 'prompt' }],
    ['create-completion 404: an unknown model', { model: 'nobody' }, 404, { code: 'model_not_found', param: 'model' }],
    ['create-completion 404: a model of another kind', { model: 'image-v2' }, 404, { code: 'model_not_found' }],
    [
      'create-completion 413: a body above 5 MB',
      { user: 'x'.repeat(5 << 20) },
      413,
      { code: 'request_body_too_large' },
    ],
  ])('%s is refused before any money moves', async (_, members, status, error) => {
    const { id, key } = await rig.tenant('1')
    const before = upstream().calls.length
    const { statusCode, text } = await rig.send({ ...BODY, ...members }, { operation, key })
    expect(statusCode).toBe(status)
    expect(JSON.parse(text)).toMatchObject({ error })
    expect(await rig.rows(id)).toHaveLength(0)
    expect(upstream().calls).toHaveLength(before)
  })

  it('create-completion 401: a key that nobody has', async () => {
    expect((await rig.send(BODY, { operation, key: 'nobody' })).statusCode).toBe(401)
  })

  it('create-completion 402: quota for one prompt and not for all of them', async () => {
    const { id, key } = await rig.tenant('0.15')
    const before = upstream().calls.length
    const { statusCode, text } = await rig.send({ ...BODY, prompt: ['a', 'b'] }, { operation, key })
    expect(statusCode).toBe(402)
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'insufficient_quota' } })
    expect(upstream().calls).toHaveLength(before)
    upstream().answerWith((response) => sendJson(response, chatAnswer()))
    expect((await rig.send({ ...BODY, prompt: ['a'] }, { operation, key })).statusCode).toBe(200)
    expect(await rig.balance(id)).toMatchObject({ held: '0', spent: '0.015' })
  })
})
