import { afterEach, describe, expect, it, vi } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { ClientGoneError } from '#lambdas/relay/client-response.ts'
import { chatAnswer, DONE, FINISH, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { type FakedCompletion, startCompletion } from './faked-completion.ts'

const TWELVE = Array.from({ length: 12 }, (_, index) => `p${index}`)
/** What one prompt costs by its usage: 9 tokens at 1,000 and 3 at 2,000. */
const BY_USAGE = 15_000n
const PATIENCE_MILLISECONDS = 30_000

afterEach(() => {
  vi.useRealTimers()
})

/** Answers every call so far in one way. */
function answerAll({ calls }: FakedCompletion, ...pieces: readonly string[]): void {
  for (const call of calls) {
    call.answer()
    call.body.write(...pieces)
  }
}

function leave({ answer }: FakedCompletion): void {
  answer.leaving.abort()
}

/** The share of one prompt in what was locked, when all of them are alike. */
const shareOf = ({ reserved }: FakedCompletion, count: number) => (reserved[0] ?? 0n) / BigInt(count)

describe('a client that leaves in the middle of a stream', () => {
  it('is billed the usage that comes later, and no other prompt is sent', async () => {
    const run = startCompletion({ prompt: TWELVE, stream: true })
    await run.settle()
    answerAll(run, word('Hi'))
    await run.settle()
    leave(run)
    answerAll(run, FINISH, USAGE_CHUNK, DONE)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.calls).toHaveLength(8)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 8n * BY_USAGE, estimated: false }])
    expect(run.answer.ends).toBe(1)
  })

  it('is billed by the text that came, where no usage comes in time', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    answerAll(run, word('12345678'))
    await run.settle()
    leave(run)
    run.callFor('a').body.end(FINISH, USAGE_CHUNK, DONE)
    await run.settle()
    vi.advanceTimersByTime(PATIENCE_MILLISECONDS - 1)
    await run.settle()
    expect(run.resolved).toHaveLength(0)
    vi.advanceTimersByTime(1)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.callFor('b').body.isDestroyed).toBe(true)
    expect(run.callFor('b').reports).not.toContain('failed')
    const prompt = Math.ceil(Buffer.byteLength(run.callFor('b').post.body) / 4)
    expect(run.resolved).toStrictEqual([
      { kind: 'settle', actual: BY_USAGE + BigInt(prompt * 1_000 + 2 * 2_000), estimated: true },
    ])
  })

  it('is billed for its prompt when not a word comes in time', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    leave(run)
    vi.advanceTimersByTime(PATIENCE_MILLISECONDS)
    expect(await run.over).toStrictEqual({ error: undefined })
    const prompt = Math.ceil(Buffer.byteLength(run.callFor('a').post.body) / 4)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BigInt(prompt * 1_000), estimated: true }])
  })

  it('leaves no timer behind', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    for (const stream of [true, false]) {
      const run = startCompletion({ prompt: 'a', stream })
      await run.settle()
      leave(run)
      run.callFor('a').answer({ contentType: 'application/json' })
      run.callFor('a').body.end(JSON.stringify(chatAnswer()))
      await run.over
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
    }
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not have its missing completions asked for', async () => {
    const run = startCompletion({ n: 2, prompt: 'a', stream: true })
    await run.settle()
    answerAll(run, word('Hi'))
    await run.settle()
    leave(run)
    run.callFor('a').body.end(FINISH, USAGE_CHUNK, DONE)
    await run.over
    expect(run.calls).toHaveLength(1)
    expect(run.resolved).toMatchObject([{ kind: 'settle' }])
  })

  it('is not billed for prompts whose upstreams had not begun to answer, if they say that nothing was sent', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    leave(run)
    run.callFor('b').fail(new ClientGoneError())
    run.callFor('a').body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: BY_USAGE, estimated: false }])
  })
})

describe('half a minute after a client has left', () => {
  it.each([false, true])(
    'no call is left that has not been answered, and all is billed (stream: %s)',
    async (stream) => {
      vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
      const run = startCompletion({ prompt: TWELVE, stream })
      await run.settle()
      run.callFor('p0').answer()
      leave(run)
      vi.advanceTimersByTime(PATIENCE_MILLISECONDS - 1)
      await run.settle()
      expect(run.calls.some(({ post }) => post.givenUp?.aborted)).toBe(false)
      vi.advanceTimersByTime(1)
      expect(await run.over).toStrictEqual({ error: undefined })
      expect(run.calls).toHaveLength(8)
      expect(run.calls.every(({ post, body }) => post.givenUp?.aborted || body.isDestroyed)).toBe(true)
      expect(run.calls.flatMap(({ reports }) => reports)).not.toContain('failed')
      expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
      expect(vi.getTimerCount()).toBe(0)
    },
  )
})

describe('a client that leaves before a whole answer', () => {
  const whole = JSON.stringify(chatAnswer())
  const json = { contentType: 'application/json' }

  it('is billed the usage of what was sent', async () => {
    const run = startCompletion({ prompt: TWELVE })
    await run.settle()
    leave(run)
    for (const call of run.calls) {
      call.answer(json)
      call.body.end(whole)
    }
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.calls).toHaveLength(8)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 8n * BY_USAGE, estimated: false }])
  })

  it('is billed the share of the reservation for a prompt that is not answered in time', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: ['a', 'b', 'c'] })
    await run.settle()
    run.callFor('a').answer(json)
    run.callFor('a').body.end(whole)
    run.callFor('b').answer(json)
    await run.settle()
    leave(run)
    vi.advanceTimersByTime(PATIENCE_MILLISECONDS)
    expect(await run.over).toStrictEqual({ error: undefined })
    const actual = BY_USAGE + 2n * shareOf(run, 3)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual, estimated: true }])
    expect(run.answer.isOpen).toBe(false)
  })

  it('is not billed where an upstream fails, as if it had stayed', async () => {
    const run = startCompletion({ prompt: ['a', 'b'] })
    await run.settle()
    leave(run)
    run.callFor('a').fail(new UpstreamFailedError())
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('is not billed when it left before anything was sent', async () => {
    const run = startCompletion({ prompt: TWELVE })
    leave(run)
    await run.settle()
    for (const call of run.calls) {
      call.fail(new ClientGoneError())
    }
    await run.over
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })
})
