import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { NoChannelAvailableError, UpstreamFailedError } from '#core/errors.ts'
import { textsOf } from '../../core/relay/completion-chunks.ts'
import { chatAnswer, DONE, FINISH, USAGE, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { startCompletion } from '../faked-completion.ts'

const JSON_ANSWER = { contentType: 'application/json' }

afterEach(() => {
  jest.useRealTimers()
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
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', n: 2, stream })
    await run.settle()
    jest.advanceTimersByTime(289_000)
    run.callFor('a').answer(stream ? {} : JSON_ANSWER)
    run.callFor('a').body.end(...(stream ? [word('Hi'), FINISH, USAGE_CHUNK, DONE] : [JSON.stringify(chatAnswer())]))
    await run.settle()
    expect(run.calls).toHaveLength(2)
    expect((run.callFor('a').post.deadline ?? Number.NaN) - performance.now()).toBe(1_000)
    run.callFor('a').fail(new UpstreamFailedError())
    await run.over
  })
})

describe('what is locked', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [5, 3],
  ])('covers the prompt of every call that may be made: %i completions, %i calls', async (n, calls) => {
    const run = startCompletion({ prompt: 'a', n })
    await run.settle()
    const promptTokensMax = Buffer.byteLength(run.callFor('a').post.body)
    expect(run.reserved).toStrictEqual([BigInt(promptTokensMax * calls * 1_000 + n * 10 * 2_000)])
    run.callFor('a').fail(new UpstreamFailedError())
    await run.over
  })
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

describe('the first byte of a stream', () => {
  it('waits for the slowest of the first prompts; what the others say is held until then', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    await run.settle()
    expect(run.answer.isOpen).toBe(false)
    run.callFor('b').answer()
    await run.settle()
    expect(textsOf(run.answer.text)).toStrictEqual(new Map([[0, { text: 'Hi', reason: 'stop' }]]))
    run.callFor('b').body.end(word('Ho'), FINISH, USAGE_CHUNK, DONE)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 30_000n, estimated: false }])
  })

  it('holds no more than 4 MiB: an upstream that writes more has to wait', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    const text = 'x'.repeat(1024 * 1024)
    run.callFor('a').body.write(...Array.from({ length: 6 }, () => word(text)))
    await run.settle()
    run.callFor('b').fail(new UpstreamFailedError())
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.callFor('a').body.unread).toBe(2)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('waits until each of the first prompts has an upstream, so that a refusal still has its status', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('Hi'))
    await run.settle()
    expect(run.answer.isOpen).toBe(false)
    run.callFor('b').answer({ status: 422, contentType: 'application/json' })
    run.callFor('b').body.end('{"error":{}}')
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer).toMatchObject({ text: '{"error":{}}', head: { statusCode: 422 } })
    // The other prompt had generated a word by then.
    expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
  })

  it('waits for no prompt after the first eight, whose refusal is an event with the upstream’s words', async () => {
    const prompt = Array.from({ length: 9 }, (_, index) => `p${index}`)
    const run = startCompletion({ prompt, stream: true })
    await run.settle()
    for (const call of run.calls) {
      call.answer()
      call.body.write(word('Hi'))
    }
    await run.settle()
    expect(textsOf(run.answer.text).size).toBe(8)
    run.callFor('p0').body.end(FINISH, DONE)
    await run.settle()
    run.callFor('p8').answer({ status: 400, contentType: 'application/json' })
    run.callFor('p8').body.end('{\n  "error": { "message": "too long" }\n}')
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.text.endsWith('data: {"error":{"message":"too long"}}\n\n')).toBe(true)
    expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
  })

  it('may be a comment after a quarter of a minute of silence, and no comment comes after the last one', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    jest.advanceTimersByTime(60_000)
    expect(run.answer.isOpen).toBe(false)
    run.callFor('a').answer()
    await run.settle()
    jest.advanceTimersByTime(14_999)
    expect(run.answer.isOpen).toBe(false)
    jest.advanceTimersByTime(1)
    expect(run.answer.text).toBe(': keep-alive\n\n')
    run.callFor('a').body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    await run.over
    const { text } = run.answer
    jest.advanceTimersByTime(60_000)
    expect(run.answer.text).toBe(text)
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('a client that reads slowly', () => {
  it('slows every upstream of its stream down', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    const room = Promise.withResolvers<void>()
    run.answer.room = room.promise
    await run.settle()
    for (const call of run.calls) {
      call.answer()
      call.body.write(word('first'), word('second'), word('third'))
    }
    await run.settle()
    expect(run.answer.text.match(/first/g)).toHaveLength(2)
    expect(run.answer.text).not.toContain('second')
    run.answer.room = undefined
    room.resolve()
    await run.settle()
    expect(run.answer.text.match(/third/g)).toHaveLength(2)
    run.callFor('a').body.breakOff()
    await run.over
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
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a' })
    await run.settle()
    run.callFor('a').answer(JSON_ANSWER)
    run.callFor('a').body.write('{"choices":[{}],"x":"', ...large)
    for (let turn = 0; turn < 10; turn += 1) {
      await run.settle()
    }
    jest.advanceTimersByTime(30_000)
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: run.reserved[0], estimated: true }])
    expect(jest.getTimerCount()).toBe(0)
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

describe('a stream that its upstream does not end after [DONE]', () => {
  it('counts as completed for its channel before its connection ends', async () => {
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    await run.over
    expect(run.callFor('a').reports).toStrictEqual(['answered', 'completed'])
    run.callFor('a').body.breakOff()
  })

  it('ends for the client at once, and its connection is given up a second later', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.ends).toBe(1)
    jest.advanceTimersByTime(999)
    expect(run.callFor('a').body.isDestroyed).toBe(false)
    jest.advanceTimersByTime(1)
    expect(run.callFor('a').body.isDestroyed).toBe(true)
    expect(run.callFor('a').reports).not.toContain('failed')
  })
})
