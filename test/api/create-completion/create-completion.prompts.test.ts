import { afterEach, describe, expect, it, jest } from '@jest/globals'
import fc from 'fast-check'
import { NoChannelAvailableError, UpstreamFailedError } from '#core/errors.ts'
import { ClientGoneError } from '#lambdas/relay/client-response.ts'
import { completion } from '#lambdas/relay/protocols/completion.ts'
import { chatAnswer, chatEvent, DONE, FINISH, USAGE, USAGE_CHUNK, word } from '../../engines/relay-rig.ts'
import { type FakedRequest, MODEL, startRequest } from '../../relay/faked-request.ts'
import { textsOf } from '../../relay/protocols/completion-chunks.ts'

/** What one prompt costs by its usage: 9 tokens at 1,000 and 3 at 2,000. */
const BY_USAGE = 15_000n
const PATIENCE_MILLISECONDS = 30_000
const JSON_REPLY = { contentType: 'application/json' }
const WHOLE = JSON.stringify(chatAnswer())
const STREAM = [word('Hi'), FINISH, USAGE_CHUNK, DONE]

const startCompletion = (members: object) => startRequest(completion, { model: MODEL, max_tokens: 10, ...members })

afterEach(() => {
  jest.useRealTimers()
})

const useFakeTimers = () => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })

/** Replies to a prompt as soon as it is sent: with events, or whole. */
async function reply(run: FakedRequest, prompt: string, ...pieces: readonly string[]): Promise<void> {
  await run.settle()
  run.callFor(prompt).answer(pieces.length > 1 ? {} : JSON_REPLY)
  run.callFor(prompt).body.end(...pieces)
  await run.settle()
}

const pieces = (stream: boolean) => (stream ? STREAM : [WHOLE])

/** The share of one prompt in what was reserved, when all of them are alike. */
const shareOf = ({ reserved }: FakedRequest, count: number) => (reserved[0] ?? 0n) / BigInt(count)

/** What a prompt costs by length: a token for four bytes of its call, and of its text. */
function byLength(run: FakedRequest, prompt: string, textBytes: number): bigint {
  const tokens = Math.ceil(Buffer.byteLength(run.callFor(prompt).post.body) / 4)
  return BigInt(tokens * 1_000 + Math.ceil(textBytes / 4) * 2_000)
}

const promptsOf = ({ calls }: FakedRequest) => calls.map(({ prompt }) => prompt)
const reportsOf = ({ calls }: FakedRequest) => calls.flatMap(({ reports }) => reports)

describe('createCompletion', () => {
  it.each([false, true])('sends a prompt when the one before has its reply (stream: %s)', async (stream) => {
    const run = startCompletion({ prompt: ['a', 'b', 'c'], n: 2, stream })
    for (const prompt of ['a', 'b', 'c']) {
      await run.settle()
      expect(promptsOf(run).at(-1)).toBe(prompt)
      await reply(run, prompt, ...pieces(stream))
    }
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.calls.map(({ n, post }) => ({ n, url: post.url, requestId: post.requestId }))).toStrictEqual(
      Array(3).fill({ n: 2, url: 'http://127.0.0.1:9/chat/completions', requestId: 'request-1' }),
    )
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 3n * BY_USAGE, estimated: false }])
  })

  it.each([false, true])('asks for nothing twice and leaves out missing choices (stream: %s)', async (stream) => {
    const run = startCompletion({ prompt: ['a', 'b'], n: 3, stream })
    await reply(run, 'a', ...pieces(stream))
    await reply(run, 'b', ...pieces(stream))
    await run.over
    expect(run.calls).toHaveLength(2)
    const indexes = stream
      ? [...textsOf(run.answer.text).keys()]
      : JSON.parse(run.answer.text).choices.map(({ index }: { index: number }) => index)
    expect(indexes).toStrictEqual([0, 3])
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 2n * BY_USAGE, estimated: false }])
  })

  it('reserves the prompt once, and its completions n times', async () => {
    const run = startCompletion({ prompt: 'a', n: 3 })
    await run.settle()
    const promptTokensMax = Buffer.byteLength(run.callFor('a').post.body)
    expect(run.reserved).toStrictEqual([BigInt(promptTokensMax * 1_000 + 3 * 10 * 2_000)])
    await reply(run, 'a', WHOLE)
    await run.over
  })

  it('notes at most eight ids of the upstreams, and all attempts', async () => {
    const prompt = Array.from({ length: 9 }, (_, index) => `p${index}`)
    const run = startCompletion({ prompt })
    for (let next = 0; next < prompt.length; next += 1) {
      await run.settle()
      run.calls[next]?.answer({ ...JSON_REPLY, requestId: `id-${next}` })
      run.calls[next]?.body.end(WHOLE)
    }
    await run.over
    expect(run.notes).toMatchObject({
      channelId: 'only',
      upstreamRequestIds: 'id-0 id-1 id-2 id-3 id-4 id-5 id-6 id-7',
      attempts: 9,
    })
  })

  it.each([
    [false, 189_000],
    [true, 290_000],
  ])(
    'gives a prompt the time of the request, or its own once the client has bytes (stream: %s)',
    async (stream, left) => {
      useFakeTimers()
      const run = startCompletion({ prompt: ['a', 'b'], stream })
      await run.settle()
      jest.advanceTimersByTime(101_000)
      await reply(run, 'a', ...pieces(stream))
      expect((run.callFor('b').post.deadline ?? Number.NaN) - performance.now()).toBe(left)
      run.callFor('b').fail(new UpstreamFailedError())
      await run.over
    },
  )

  it('resolves the reservation once, ends the response once, and leaves nothing open, whatever happens', async () => {
    const acts = ['whole', 'failed', 'broken', 'broken after text', 'refused'] as const
    const scenario = fc.record({
      stream: fc.boolean(),
      acts: fc.array(fc.constantFrom(...acts), { minLength: 1, maxLength: 4 }),
      leavesAt: fc.option(fc.nat(3), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ stream, acts: steps, leavesAt }) => {
        const run = startCompletion({ prompt: steps.map((_, index) => `${index}`), stream })
        for (const [at, act] of steps.entries()) {
          await run.settle()
          if (at === leavesAt) {
            run.answer.leaving.abort()
          }
          if (run.calls.length === at + 1) {
            perform(run.callFor(`${at}`), act, stream)
          }
        }
        await run.settle()
        const { error } = await run.over
        expect(run.reserved).toHaveLength(1)
        expect(run.resolved).toHaveLength(1)
        expect(run.answer.ends).toBe(run.answer.isOpen ? 1 : run.answer.ends)
        expect(error !== undefined && run.answer.isOpen).toBe(false)
        if (steps.every((act) => act === 'whole') && (leavesAt ?? steps.length) >= steps.length) {
          const actual = BigInt(steps.length) * BY_USAGE
          expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated: false }])
        } else if (stream && run.answer.isOpen) {
          expect(run.answer.text).not.toContain('[DONE]')
        }
        expect(run.calls.every(({ body, post }) => body.isOver || post.givenUp?.aborted !== true)).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  function perform(call: FakedRequest['calls'][number], act: string, stream: boolean): void {
    if (act === 'failed') {
      call.fail(new UpstreamFailedError())
    } else if (act === 'refused') {
      call.answer({ status: 400, ...JSON_REPLY })
      call.body.end('{"error":{"message":"no"}}')
    } else {
      call.answer(stream ? {} : JSON_REPLY)
      if (act === 'whole') {
        call.body.end(...pieces(stream))
      } else {
        call.body.write(act === 'broken' ? '' : stream ? word('Hi') : '{')
        call.body.breakOff()
      }
    }
  }
})

describe('createCompletion, when a prompt fails before the first byte', () => {
  it.each([
    ['create-completion 503', new NoChannelAvailableError(7), { statusCode: 503, retryAfterSeconds: 7 }],
    ['create-completion 500', new TypeError('a fault'), { message: 'a fault' }],
    ['create-completion 502', new UpstreamFailedError(), { statusCode: 502 }],
  ])('%s: throws the failure, bills nothing and sends no other prompt', async (_, failure, expected) => {
    const run = startCompletion({ prompt: ['a', 'b', 'c'] })
    await reply(run, 'a', WHOLE)
    run.callFor('b').fail(failure)
    expect((await run.over).error).toMatchObject(expected)
    expect(promptsOf(run)).toStrictEqual(['a', 'b'])
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it.each([
    [400, false],
    [409, true],
    [422, true],
  ])('relays a refusal of status %i, and bills the prompts before it', async (status, isPrecededByReply) => {
    const run = startCompletion({ prompt: isPrecededByReply ? ['a', 'bad', 'c'] : 'bad' })
    if (isPrecededByReply) {
      await reply(run, 'a', WHOLE)
    }
    await run.settle()
    run.callFor('bad').answer({ status, ...JSON_REPLY })
    run.callFor('bad').body.end('{"error":{"message":"no"}}')
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer).toMatchObject({ text: '{"error":{"message":"no"}}', head: { statusCode: status } })
    expect(run.answer.head?.headers['x-should-retry']).toBe(isPrecededByReply ? 'false' : undefined)
    expect(promptsOf(run).at(-1)).toBe('bad')
    const settled = { kind: 'settle', actual: BY_USAGE, estimated: false }
    expect(run.resolved).toStrictEqual([isPrecededByReply ? settled : { kind: 'release' }])
  })

  it('relays the refusal of the first prompt of a stream with its status', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer({ status: 422, ...JSON_REPLY })
    run.callFor('a').body.end('{"error":{}}')
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer).toMatchObject({ text: '{"error":{}}', head: { statusCode: 422 } })
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it.each([
    ['HTML', 'text/html', '<html>'],
    ['no JSON object', 'application/json', '[]'],
    ['no choices', 'application/json', '{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}'],
    ['a stream without an event', 'text/event-stream', '<html>'],
    ['a stream whose events say nothing', 'text/event-stream', 'data: 1\n\n'],
    ['a stream of a usage alone', 'text/event-stream', USAGE_CHUNK + DONE],
  ])('blames the channel of a reply that gives no completion, for free: %s', async (_, contentType, text) => {
    for (const stream of contentType === 'text/event-stream' ? [true] : [false, true]) {
      const run = startCompletion({ prompt: 'a', stream })
      await run.settle()
      run.callFor('a').answer({ contentType })
      run.callFor('a').body.end(text)
      expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
      expect(run.calls).toHaveLength(1)
      expect(reportsOf(run)).toContain('failed')
      expect(run.resolved).toStrictEqual([{ kind: 'release' }])
    }
  })
})

describe('createCompletion, when a prompt of a stream fails after the first byte', () => {
  it('sends one event with the error, and bills what was generated', async () => {
    const run = startCompletion({ prompt: ['a', 'b', 'c'], stream: true })
    await reply(run, 'a', ...STREAM)
    run.callFor('b').answer()
    run.callFor('b').body.write(word('12345678'))
    run.callFor('b').body.breakOff()
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.text).toMatch(/"code":"upstream_error"\}\}\n\n$/)
    expect(run.answer.text.match(/"error"/g)).toHaveLength(1)
    expect(promptsOf(run)).toStrictEqual(['a', 'b'])
    expect(reportsOf(run)).toContain('failed')
    const actual = BY_USAGE + byLength(run, 'b', 8)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated: true }])
  })

  it('repeats the words of an upstream about its error, and bills the usage beside it', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await reply(run, 'a', ...STREAM)
    const error = { message: 'overloaded', type: 'server_error', param: null, code: 500 }
    await reply(run, 'b', word('Hi'), USAGE_CHUNK, chatEvent({ error }))
    await run.over
    expect(run.answer.text.endsWith(`data: ${JSON.stringify({ error })}\n\n`)).toBe(true)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 2n * BY_USAGE, estimated: false }])
  })

  it('repeats the words of a refusal on one line, and bills the prompts before it', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await reply(run, 'a', ...STREAM)
    run.callFor('b').answer({ status: 400, ...JSON_REPLY })
    run.callFor('b').body.end('{\n  "error": { "message": "too long" }\n}')
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.text.endsWith('data: {"error":{"message":"too long"}}\n\n')).toBe(true)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })

  it('bills the prompts before a prompt that no channel takes', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await reply(run, 'a', ...STREAM)
    run.callFor('b').fail(new UpstreamFailedError())
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.text).toMatch(/"code":"upstream_error"\}\}\n\n$/)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })

  it.each(['data: {"choices":[],"usa', 'data: [DO'])(
    'takes a stream that ends inside an event for broken, although every finish reason has come: %j',
    async (half) => {
      const run = startCompletion({ prompt: 'a', stream: true })
      await reply(run, 'a', word('Hi'), FINISH, half)
      await run.over
      expect(run.answer.text).toContain('"code":"upstream_error"')
      expect(run.answer.text).not.toContain('[DONE]')
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: byLength(run, 'a', 2), estimated: true }])
    },
  )

  it.each([USAGE_CHUNK.trimEnd(), `${USAGE_CHUNK}${DONE.trimEnd()}`])(
    'takes a stream whose last event lacks its blank line for whole: %j',
    async (last) => {
      const run = startCompletion({ prompt: 'a', stream: true })
      await reply(run, 'a', word('Hi'), FINISH, last)
      await run.over
      expect(run.answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
    },
  )
})

/** A large reply is read in steps of 64 KiB, each in a turn of its own. */
async function settleSteps(run: { settle(): Promise<void> }): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    await run.settle()
  }
}

describe('createCompletion, when a reply is larger than what is held', () => {
  const MEBIBYTE = ' '.repeat(1024 * 1024)
  const large = Array<string>(17).fill(MEBIBYTE)
  const [before = '', after = ''] = JSON.stringify(chatAnswer({ usage: null })).split('"usage":null')

  it('fails for free where the reply is no JSON object', async () => {
    const run = startCompletion({ prompt: 'a' })
    await run.settle()
    run.callFor('a').answer(JSON_REPLY)
    run.callFor('a').body.write(...large)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.callFor('a').body.isDestroyed).toBe(true)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it.each([
    ['by its usage', `"usage":${JSON.stringify(USAGE)}`, false],
    ['at the estimate where it has none', '"more":1', true],
  ])('bills it %s, with the prompts before, and tells SDKs not to retry', async (_, members, estimated) => {
    for (const stream of [false, true]) {
      const run = startCompletion({ prompt: stream ? 'b' : ['a', 'b', 'c'], stream })
      if (!stream) {
        await reply(run, 'a', WHOLE)
      }
      await run.settle()
      run.callFor('b').answer(JSON_REPLY)
      run.callFor('b').body.end(before, ...large, members, after)
      expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
      expect(promptsOf(run).at(-1)).toBe('b')
      expect(run.failures).toStrictEqual([{ isBilled: true }])
      const own = estimated ? shareOf(run, stream ? 1 : 3) : BY_USAGE
      const actual = own + (stream ? 0n : BY_USAGE)
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated }])
    }
  })

  it('counts all replies of a response that is sent as a whole', async () => {
    const run = startCompletion({ prompt: ['a', 'b', 'c', 'd'] })
    const nearly = [before, ...Array<string>(6).fill(MEBIBYTE), `"usage":${JSON.stringify(USAGE)}`, after]
    for (const prompt of ['a', 'b', 'c']) {
      await settleSteps(run)
      run.callFor(prompt).answer(JSON_REPLY)
      run.callFor(prompt).body.end(...nearly)
    }
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(promptsOf(run)).toStrictEqual(['a', 'b', 'c'])
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 3n * BY_USAGE, estimated: false }])
  })

  it('waits for its usage for half a minute, and then bills the estimate', async () => {
    useFakeTimers()
    const run = startCompletion({ prompt: 'a' })
    await run.settle()
    run.callFor('a').answer(JSON_REPLY)
    run.callFor('a').body.write('{"choices":[{}],"x":"', ...large)
    await settleSteps(run)
    jest.advanceTimersByTime(PATIENCE_MILLISECONDS)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
    expect(jest.getTimerCount()).toBe(0)
  })

  it('bills one event without end at the estimate, and calls no other channel', async () => {
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write('data: {"choices":[', ...large)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.calls).toHaveLength(1)
    expect(run.failures).toStrictEqual([{ isBilled: true }])
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
  })
})

describe('createCompletion, when its client leaves', () => {
  it.each([false, true])('bills the usage that comes later, and sends no other prompt (stream: %s)', async (stream) => {
    const run = startCompletion({ prompt: ['a', 'b', 'c'], stream })
    await reply(run, 'a', ...pieces(stream))
    run.callFor('b').answer(stream ? {} : JSON_REPLY)
    await run.settle()
    run.answer.leaving.abort()
    run.callFor('b').body.end(...pieces(stream))
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(promptsOf(run)).toStrictEqual(['a', 'b'])
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 2n * BY_USAGE, estimated: false }])
  })

  it('bills the text of a stream whose usage does not come in half a minute', async () => {
    useFakeTimers()
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await reply(run, 'a', ...STREAM)
    run.callFor('b').answer()
    run.callFor('b').body.write(word('12345678'))
    await run.settle()
    run.answer.leaving.abort()
    jest.advanceTimersByTime(PATIENCE_MILLISECONDS - 1)
    await run.settle()
    expect(run.resolved).toHaveLength(0)
    jest.advanceTimersByTime(1)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.callFor('b').body.isDestroyed).toBe(true)
    expect(reportsOf(run)).not.toContain('failed')
    const actual = BY_USAGE + byLength(run, 'b', 8)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated: true }])
    expect(jest.getTimerCount()).toBe(0)
  })

  it('bills the prompt of a stream without a word in half a minute', async () => {
    useFakeTimers()
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    run.callFor('a').answer()
    await run.settle()
    run.answer.leaving.abort()
    jest.advanceTimersByTime(PATIENCE_MILLISECONDS)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(reportsOf(run)).not.toContain('failed')
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: byLength(run, 'a', 0), estimated: true }])
    expect(jest.getTimerCount()).toBe(0)
  })

  it.each([false, true])(
    'waits for an upstream that has the prompt, and bills its usage (stream: %s)',
    async (stream) => {
      useFakeTimers()
      const run = startCompletion({ prompt: ['a', 'b'], stream })
      await reply(run, 'a', ...pieces(stream))
      run.answer.leaving.abort()
      jest.advanceTimersByTime(2 * PATIENCE_MILLISECONDS)
      await run.settle()
      expect(run.resolved).toHaveLength(0)
      await reply(run, 'b', ...pieces(stream))
      expect(await run.over).toStrictEqual({ error: undefined })
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 2n * BY_USAGE, estimated: false }])
      expect(jest.getTimerCount()).toBe(0)
    },
  )

  it('gives a prompt no more time than the request has', async () => {
    useFakeTimers()
    const run = startCompletion({ prompt: ['a', 'b', 'c', 'd'], stream: true })
    await run.settle()
    for (const prompt of ['a', 'b', 'c']) {
      jest.advanceTimersByTime(250_000)
      await reply(run, prompt, ...STREAM)
    }
    expect((run.callFor('d').post.deadline ?? Number.NaN) - performance.now()).toBe(55_000)
    run.callFor('d').fail(new UpstreamFailedError())
    await run.over
  })

  it.each([
    ['small', [] as string[]],
    ['too large to be held', ['{"choices":[{}],"x":"', ...Array<string>(17).fill(' '.repeat(1024 * 1024))]],
  ])('bills the share of a whole reply that does not end in half a minute: %s', async (_, bytes) => {
    useFakeTimers()
    const run = startCompletion({ prompt: ['a', 'b', 'c'] })
    await reply(run, 'a', WHOLE)
    run.callFor('b').answer(JSON_REPLY)
    run.callFor('b').body.write(...bytes)
    for (let turn = 0; turn < 10; turn += 1) {
      await run.settle()
    }
    run.answer.leaving.abort()
    jest.advanceTimersByTime(PATIENCE_MILLISECONDS)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.answer.isOpen).toBe(false)
    expect(reportsOf(run)).not.toContain('failed')
    const actual = BY_USAGE + shareOf(run, 3)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated: true }])
    expect(jest.getTimerCount()).toBe(0)
  })

  it('bills nothing for a prompt that was not sent', async () => {
    const run = startCompletion({ prompt: ['a', 'b'] })
    await reply(run, 'a', WHOLE)
    run.answer.leaving.abort()
    run.callFor('b').fail(new ClientGoneError())
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })

  it('bills nothing where an upstream fails, as if the client had stayed', async () => {
    const run = startCompletion({ prompt: ['a', 'b'] })
    await reply(run, 'a', WHOLE)
    run.answer.leaving.abort()
    run.callFor('b').fail(new UpstreamFailedError())
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })
})

describe('createCompletion, while it streams', () => {
  it('sends a comment after a quarter of a minute of silence, also between two prompts, and none after the end', async () => {
    useFakeTimers()
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    jest.advanceTimersByTime(60_000)
    expect(run.answer.isOpen).toBe(false)
    run.callFor('a').answer()
    await run.settle()
    jest.advanceTimersByTime(15_000)
    expect(run.answer.text).toBe(': keep-alive\n\n')
    run.callFor('a').body.end(...STREAM)
    await run.settle()
    jest.advanceTimersByTime(15_000)
    expect(run.answer.text.endsWith(': keep-alive\n\n')).toBe(true)
    await reply(run, 'b', ...STREAM)
    await run.over
    const { text } = run.answer
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    jest.advanceTimersByTime(60_000)
    expect(run.answer.text).toBe(text)
    expect(jest.getTimerCount()).toBe(0)
  })

  it('lets a client that reads slowly slow its upstream down', async () => {
    const run = startCompletion({ prompt: 'a', stream: true })
    const room = Promise.withResolvers<void>()
    run.answer.room = room.promise
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('first'), word('second'), word('third'))
    await run.settle()
    expect(run.answer.text).toContain('first')
    expect(run.answer.text).not.toContain('second')
    run.answer.room = undefined
    room.resolve()
    await run.settle()
    expect(run.answer.text).toContain('third')
    run.callFor('a').body.breakOff()
    await run.over
  })

  it('ends at [DONE], and gives up a connection that its upstream keeps open a second later', async () => {
    useFakeTimers()
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(...STREAM)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.ends).toBe(1)
    expect(reportsOf(run)).toStrictEqual(['begun', 'completed'])
    jest.advanceTimersByTime(999)
    expect(run.callFor('a').body.isDestroyed).toBe(false)
    jest.advanceTimersByTime(1)
    expect(run.callFor('a').body.isDestroyed).toBe(true)
    expect(reportsOf(run)).not.toContain('failed')
  })
})
