import { afterEach, describe, expect, it, vi } from 'vitest'
import { NoChannelAvailableError, UpstreamFailedError } from '#core/errors.ts'
import { chatAnswer, DONE, FINISH, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { startCompletion } from './faked-completion.ts'

const JSON_ANSWER = { contentType: 'application/json' }

afterEach(() => {
  vi.useRealTimers()
})

describe('the calls of one request', () => {
  it('create-completion 503: ends every call when one of them finds no channel', async () => {
    const run = startCompletion({ prompt: ['a', 'b', 'c'] })
    await run.settle()
    run.callFor('b').answer(JSON_ANSWER)
    await run.settle()
    run.callFor('a').fail(new NoChannelAvailableError(7))
    expect((await run.over).error).toMatchObject({ statusCode: 503, retryAfterSeconds: 7 })
    expect(run.callFor('b').body.isDestroyed).toBe(true)
    expect(run.callFor('b').reports).not.toContain('failed')
    expect(run.callFor('c').post.givenUp?.aborted).toBe(true)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('create-completion 500: a fault of the gateway itself is no upstream’s, and is free', async () => {
    const run = startCompletion({ prompt: ['a', 'b'] })
    await run.settle()
    const fault = new TypeError('a fault')
    run.callFor('a').fail(fault)
    expect((await run.over).error).toBe(fault)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('all have the session and the id of the request', async () => {
    const run = startCompletion({ prompt: ['a', 'b'] })
    await run.settle()
    for (const { post } of run.calls) {
      expect(post).toMatchObject({ requestId: 'request-1', url: 'http://127.0.0.1:9/chat/completions' })
    }
    run.callFor('a').fail(new UpstreamFailedError())
    await run.over
  })
})

describe('the time that a prompt may take to be answered', () => {
  it.each([false, true])('is not begun anew by a call for its missing completions (stream: %s)', async (stream) => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', n: 2, stream })
    await run.settle()
    vi.advanceTimersByTime(289_000)
    run.callFor('a').answer(stream ? {} : JSON_ANSWER)
    run.callFor('a').body.end(...(stream ? [word('Hi'), FINISH, USAGE_CHUNK, DONE] : [JSON.stringify(chatAnswer())]))
    await run.settle()
    expect(run.calls).toHaveLength(2)
    expect((run.callFor('a').post.deadline ?? Number.NaN) - performance.now()).toBe(1_000)
    run.callFor('a').fail(new UpstreamFailedError())
    await run.over
  })
})

describe('the log line of a request', () => {
  it('has the upstreams’ ids of its calls, eight at most', async () => {
    const prompt = Array.from({ length: 9 }, (_, index) => `p${index}`)
    const run = startCompletion({ prompt })
    for (let next = 0; next < prompt.length; next += 1) {
      await run.settle()
      run.calls[next]?.answer({ ...JSON_ANSWER, requestId: `id-${next}` })
      run.calls[next]?.body.end(JSON.stringify(chatAnswer()))
    }
    await run.over
    expect(run.notes).toMatchObject({
      channelId: 'only',
      upstreamRequestIds: 'id-0 id-1 id-2 id-3 id-4 id-5 id-6 id-7',
      attempts: 9,
    })
  })
})
