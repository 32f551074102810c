import { describe, expect, it, jest } from '@jest/globals'
import { NoChannelAvailableError, UpstreamFailedError } from '#core/errors.ts'
import { chat } from '#lambdas/relay/protocols/chat.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { chatAnswer, DONE, FINISH, USAGE_CHUNK, word } from '../engines/relay-rig.ts'
import { captureLog } from '../middleware/api-exchange.ts'
import { type FakedRequest, MODEL, startRequest } from './faked-request.ts'
import { ROLE_CHOICES, roleEvent } from './protocols/role-chunks.ts'

const PROMPT = 'hello'
const JSON_REPLY = { contentType: 'application/json' }
const telemetry = captureTelemetry()

const startChat = (members: object = {}) =>
  startRequest(chat, {
    model: MODEL,
    messages: [{ role: 'user', content: PROMPT }],
    max_tokens: 10,
    ...members,
  })

/** Sends a whole reply; one without an end breaks off. */
async function reply(run: FakedRequest, pieces: readonly string[], { breaksOff = false } = {}): Promise<void> {
  await run.settle()
  run.callFor(PROMPT).answer(JSON_REPLY)
  run.callFor(PROMPT).body.write(...pieces)
  if (breaksOff) {
    run.callFor(PROMPT).body.breakOff()
  } else {
    run.callFor(PROMPT).body.end()
  }
}

const MEBIBYTES = (count: number) => Array<string>(count).fill(' '.repeat(1024 * 1024))

/** A reply that is too large to be held, with these choices and this usage. */
const large = (choices: string, usage: string) => [`{"choices":${choices}`, ...MEBIBYTES(33), `,"usage":${usage}}`]

const reportsOf = ({ calls }: FakedRequest) => calls.flatMap(({ reports }) => reports)

describe('runRequest', () => {
  it('sends a whole reply with its cost, and settles the same amount once', async () => {
    const run = startChat()
    await reply(run, [JSON.stringify(chatAnswer())])
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(JSON.parse(run.answer.text).usage.cost).toBe(0.015)
    expect(run.answer.head).toMatchObject({ statusCode: 200, headers: { 'x-reelgate-cost': '0.015' } })
    expect(run.answer.ends).toBe(1)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 15_000n, estimated: false }])
  })

  it('shows and bills the estimate of a whole reply without a usage', async () => {
    const run = startChat()
    await reply(run, [JSON.stringify(chatAnswer({ usage: undefined }))])
    await run.over
    expect(run.answer.head?.headers['x-reelgate-cost']).toBe(String(Number(run.reserved[0]) / 1_000_000))
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
  })

  it('settles a stream by its usage, and shows the client what it costs', async () => {
    const run = startChat({ stream: true, stream_options: { include_usage: true } })
    await run.settle()
    run.callFor(PROMPT).answer()
    run.callFor(PROMPT).body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    await run.over
    expect(run.answer.text).toContain('"cost":0.015')
    expect(run.answer.text.endsWith(DONE)).toBe(true)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 15_000n, estimated: false }])
    expect(run.notes).toMatchObject({ streamEnd: 'whole', inputTokens: 9, outputTokens: 3 })
  })

  it('bills what was sent of a stream whose last event has too many lines', async () => {
    const run = startChat({ stream: true })
    await run.settle()
    run.callFor(PROMPT).answer()
    run.callFor(PROMPT).body.end(word('Hi'), ':\n'.repeat(20_000))
    await run.over
    expect(run.answer.text).toContain('Hi')
    expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
  })

  it('bills what was sent of a stream that the gateway itself cannot read on', async () => {
    const read = ChatStream.prototype.push
    const spy = jest.spyOn(ChatStream.prototype, 'push').mockImplementation(function (this: ChatStream, text) {
      if (text.includes('there')) {
        throw new TypeError('a fault of our own')
      }
      return read.call(this, text)
    })
    const run = startChat({ stream: true })
    await run.settle()
    run.callFor(PROMPT).answer()
    run.callFor(PROMPT).body.write(word('Hi'))
    await run.settle()
    run.callFor(PROMPT).body.end(word('there'))
    await run.over
    spy.mockRestore()
    expect(run.answer.text).toContain('broke off')
    expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
  })

  it('bills nothing for a reply that breaks off while its client waits', async () => {
    const run = startChat()
    await reply(run, ['{'], { breaksOff: true })
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('bills the estimate when its client has left and the reply does not become whole', async () => {
    const run = startChat()
    await run.settle()
    run.answer.leaving.abort()
    await reply(run, ['{'], { breaksOff: true })
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
  })

  it('bills the likely prompt when its client leaves after a role and the stream never goes on', async () => {
    const run = startChat({ stream: true })
    await run.settle()
    run.callFor(PROMPT).answer()
    run.callFor(PROMPT).body.write(roleEvent(ROLE_CHOICES['a refusal that is null']))
    await run.settle()
    run.answer.leaving.abort()
    run.callFor(PROMPT).body.breakOff()
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.notes).toMatchObject({ streamEnd: 'abandoned' })
    expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
    expect(run.resolved[0]?.actual).toBeGreaterThan(0n)
    expect(run.resolved[0]?.actual).toBeLessThan(run.reserved[0] ?? 0n)
  })

  it('bills nothing when no channel takes the request', async () => {
    const run = startChat()
    await run.settle()
    run.callFor(PROMPT).fail(new NoChannelAvailableError(7))
    expect((await run.over).error).toMatchObject({ statusCode: 503, retryAfterSeconds: 7 })
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('logs and counts a usage whose parts are above their whole, and bills it as it was cut', async () => {
    telemetry.reset()
    const log = captureLog()
    const run = startChat()
    const usage = { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 50 } }
    await reply(run, [JSON.stringify(chatAnswer({ usage }))])
    await run.over
    expect(telemetry.counted()).toContain('usage_refused')
    expect(log.entries()).toContainEqual(
      expect.objectContaining({ level: 'ERROR', requestId: 'request-1', promptTokens: '9', completionTokens: '3' }),
    )
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 15_000n, estimated: false }])
  })

  it('logs and counts a usage above the bound of its model, and bills the bound', async () => {
    telemetry.reset()
    const log = captureLog()
    const run = startChat()
    await reply(run, [JSON.stringify(chatAnswer({ usage: { prompt_tokens: 9, completion_tokens: 1e15 } }))])
    await run.over
    expect(telemetry.counted()).toContain('usage_above_bound')
    const reported = { model: MODEL, channelId: 'only', promptTokens: '9', completionTokens: expect.any(String) }
    expect(log.entries()).toContainEqual(expect.objectContaining({ level: 'ERROR', ...reported }))
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 9_000n + 2_000_000n, estimated: false }])
  })
})

describe('runRequest, for a reply that is too large to be held', () => {
  const USAGE = '{"prompt_tokens":9,"completion_tokens":3}'

  it.each<[string, string, string, number | undefined, object]>([
    ['its usage', '[{}]', USAGE, 0.015, { kind: 'settle', actual: 15_000n, estimated: false }],
    [
      'the estimate without a usage that can be believed',
      '[{}]',
      '{"prompt_tokens":0}',
      undefined,
      { estimated: true },
    ],
    ['nothing without a choice', '[]', USAGE, undefined, { kind: 'release' }],
  ])('relays it while it arrives, and bills %s', async (_, choices, usage, cost, resolved) => {
    const run = startChat()
    await reply(run, large(choices, usage))
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(JSON.parse(run.answer.text).usage.cost).toBe(cost)
    expect(run.resolved).toMatchObject([resolved])
    expect(reportsOf(run).includes('failed')).toBe(choices === '[]')
  })

  it('bills what came of one that breaks off, and blames the channel', async () => {
    const run = startChat()
    await reply(run, large('[{}]', USAGE).slice(0, -1), { breaksOff: true })
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
    expect(reportsOf(run)).toContain('failed')
    expect(() => JSON.parse(run.answer.text)).toThrow(SyntaxError)
  })

  it('cuts one that cannot become a stream, bills it, and tells SDKs not to retry', async () => {
    const run = startChat({ stream: true })
    await reply(run, large('[{}]', USAGE))
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.answer.isOpen).toBe(false)
    expect(run.failures).toStrictEqual([{ isBilled: true }])
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 15_000n, estimated: false }])
  })
})
