import { afterEach, describe, expect, it, vi } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { chatAnswer, chatEvent, DONE, FINISH, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { type FakedCompletion, startCompletion } from './faked-completion.ts'

/** What one call costs by its usage: 9 tokens at 1,000 and 3 at 2,000. */
const BY_USAGE = 15_000n
const JSON_ANSWER = { contentType: 'application/json' }
const STREAM = [word('Hi'), FINISH, USAGE_CHUNK, DONE]
const NO_TEXT = [FINISH, USAGE_CHUNK, DONE]

afterEach(() => {
  vi.useRealTimers()
})

/** What a prompt costs by length: a token for four bytes of its call, and of its text. */
function byLength(run: FakedCompletion, textBytes: number): bigint {
  const prompt = Math.ceil(Buffer.byteLength(run.calls[0]?.post.body ?? '') / 4)
  return BigInt(prompt * 1_000 + Math.ceil(textBytes / 4) * 2_000)
}

async function answerNext(run: FakedCompletion, ...pieces: readonly string[]): Promise<void> {
  await run.settle()
  run.callFor('a').answer(pieces.length > 1 ? {} : JSON_ANSWER)
  run.callFor('a').body.end(...pieces)
}

const WHOLE = JSON.stringify(chatAnswer())

describe('an upstream that gives one completion, whatever is asked for', () => {
  it.each([
    ['with text', STREAM],
    ['without text', NO_TEXT],
  ])('is billed for each completion of a stream that was delivered (%s)', async (_, pieces) => {
    const run = startCompletion({ prompt: 'a', n: 5, stream: true })
    for (let call = 0; call < 3; call += 1) {
      await answerNext(run, ...pieces)
    }
    await run.over
    expect(run.calls.map(({ n }) => n)).toStrictEqual([5, 4, 3])
    expect(run.answer.text).toContain('"error"')
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 3n * BY_USAGE, estimated: false }])
  })

  it('is billed for all calls of a whole answer that comes to nothing', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], n: 5 })
    await run.settle()
    run.callFor('b').answer(JSON_ANSWER)
    run.callFor('b').body.end(JSON.stringify(chatAnswer({ choices: Array(5).fill(chatAnswer().choices[0]) })))
    for (let call = 0; call < 3; call += 1) {
      await answerNext(run, WHOLE)
    }
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.answer.isOpen).toBe(false)
    expect(run.failures).toStrictEqual([{ isBilled: true }])
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 4n * BY_USAGE, estimated: false }])
  })

  it('is billed for what it generated where a call of a whole answer has no usage', async () => {
    const run = startCompletion({ prompt: 'a', n: 5 })
    await answerNext(run, WHOLE)
    await answerNext(run, JSON.stringify(chatAnswer({ usage: null })))
    await answerNext(run, WHOLE)
    await run.over
    const actual = 2n * BY_USAGE + byLength(run, 'Hi there'.length)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated: true }])
  })

  it.each([false, true])('is not billed for calls without a completion (stream: %s)', async (stream) => {
    const run = startCompletion({ prompt: 'a', n: 5, stream })
    for (let call = 0; call < 3; call += 1) {
      await answerNext(run, ...(stream ? [USAGE_CHUNK, DONE] : [JSON.stringify(chatAnswer({ choices: [] }))]))
    }
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })
})

describe('a later call for missing completions', () => {
  it('that fails leaves the bill of those that were delivered', async () => {
    const run = startCompletion({ prompt: 'a', n: 2, stream: true })
    await answerNext(run, ...STREAM)
    await run.settle()
    run.callFor('a').fail(new UpstreamFailedError())
    await run.over
    expect(run.answer.text).toContain('"error"')
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })

  it('that is refused leaves the bill of those that were delivered', async () => {
    const run = startCompletion({ prompt: 'a', n: 2, stream: true })
    await answerNext(run, ...STREAM)
    await run.settle()
    run.callFor('a').answer({ status: 400, ...JSON_ANSWER })
    run.callFor('a').body.end('{"error":{}}')
    await run.over
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })

  it('that is refused leaves the bill of the whole answers before it', async () => {
    const run = startCompletion({ prompt: 'a', n: 2 })
    await answerNext(run, WHOLE)
    await run.settle()
    run.callFor('a').answer({ status: 400, ...JSON_ANSWER })
    run.callFor('a').body.end('{"error":{}}')
    await run.over
    expect(run.answer.head).toMatchObject({ statusCode: 400, headers: { 'x-should-retry': 'false' } })
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })

  it('that breaks off is billed for its own text, beside the usage of those before it', async () => {
    const run = startCompletion({ prompt: 'a', n: 2, stream: true })
    await answerNext(run, ...STREAM)
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('12345678'))
    run.callFor('a').body.breakOff()
    await run.over
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE + byLength(run, 8), estimated: true }])
  })

  it('that reports an error after its usage is billed that usage too', async () => {
    const run = startCompletion({ prompt: 'a', n: 2, stream: true })
    await answerNext(run, ...STREAM)
    await answerNext(run, word('Hi'), USAGE_CHUNK, chatEvent({ error: {} }))
    await run.over
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 2n * BY_USAGE, estimated: false }])
  })

  it.each([false, true])(
    'is not made for a client that has left, who pays for the first (stream: %s)',
    async (stream) => {
      const run = startCompletion({ prompt: 'a', n: 2, stream })
      await run.settle()
      run.answer.leaving.abort()
      await answerNext(run, ...(stream ? STREAM : [WHOLE]))
      await run.settle()
      run.calls[1]?.abort()
      await run.over
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
    },
  )

  it('that a client leaves in the middle of is billed for its prompt at least', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', n: 2, stream: true })
    await answerNext(run, ...STREAM)
    await run.settle()
    run.answer.leaving.abort()
    vi.advanceTimersByTime(30_000)
    await run.over
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE + byLength(run, 0), estimated: true }])
  })

  it('of a whole answer that a client leaves in the middle of is billed at the estimate', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', n: 2 })
    await answerNext(run, WHOLE)
    await run.settle()
    run.answer.leaving.abort()
    vi.advanceTimersByTime(30_000)
    await run.over
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
  })
})
