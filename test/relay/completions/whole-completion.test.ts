import { afterEach, describe, expect, it, vi } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { chatAnswer, USAGE } from '../../engines/relay-upstream.ts'
import { startCompletion } from './faked-completion.ts'

const JSON_ANSWER = { contentType: 'application/json' }

afterEach(() => {
  vi.useRealTimers()
})

describe('an answer of status 200 that is no chat answer', () => {
  it.each([
    ['HTML', 'text/html', '<html>'],
    ['no JSON object', 'application/json', '[]'],
    ['a stream without an event', 'text/event-stream', '<html>'],
    ['a stream whose events say nothing', 'text/event-stream', 'data: 1\n\n'],
  ])('counts against its channel: %s', async (_, contentType, text) => {
    const isStream = contentType === 'text/event-stream'
    for (const stream of isStream ? [true] : [false, true]) {
      const run = startCompletion({ prompt: 'a', stream })
      await run.settle()
      run.callFor('a').answer({ contentType })
      run.callFor('a').body.end(text)
      expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
      expect(run.calls).toHaveLength(1)
      expect(run.callFor('a').reports).toContain('failed')
      expect(run.resolved).toStrictEqual([{ kind: 'release' }])
    }
  })
})

describe('an answer that is larger than any', () => {
  const mebibyte = ' '.repeat(1024 * 1024)
  const large = Array<string>(17).fill(mebibyte)

  it('and no JSON object is a failure of its upstream, not held, and free', async () => {
    const run = startCompletion({ prompt: 'a' })
    await run.settle()
    run.callFor('a').answer(JSON_ANSWER)
    run.callFor('a').body.write(...large)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.callFor('a').body.isDestroyed).toBe(true)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it.each([
    ['by its usage', USAGE, false],
    ['at the estimate where it has none', undefined, true],
  ])('is billed %s, with the prompts that were answered, and not to be tried again', async (_, usage, estimated) => {
    for (const stream of [false, true]) {
      const run = startCompletion({ prompt: ['a', 'b'], stream })
      await run.settle()
      const [before = '', after = ''] = JSON.stringify(chatAnswer({ usage: null })).split('"usage":null')
      for (const prompt of ['a', 'b']) {
        run.callFor(prompt).answer(JSON_ANSWER)
      }
      const members = usage === undefined ? '"more":1' : `"usage":${JSON.stringify(usage)}`
      run.callFor('a').body.end(before, ...large, members, after)
      run.callFor('b').body.write(' ')
      expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
      expect(run.calls).toHaveLength(2)
      expect(run.failures).toStrictEqual([{ isBilled: true }])
      const share = (run.reserved[0] ?? 0n) / 2n
      expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: estimated ? share : 15_000n, estimated }])
    }
  })

  it('is waited for half a minute, and then billed at the estimate', async () => {
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a' })
    await run.settle()
    run.callFor('a').answer(JSON_ANSWER)
    run.callFor('a').body.write('{"choices":[{}],"x":"', ...large)
    for (let turn = 0; turn < 10; turn += 1) {
      await run.settle()
    }
    vi.advanceTimersByTime(30_000)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('as one event of a stream is billed at the estimate, and no other channel is asked', async () => {
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
