import { afterEach, describe, expect, it, vi } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { textsOf } from '../../core/relay/completion-chunks.ts'
import { DONE, FINISH, USAGE_CHUNK, word } from '../../engines/relay-upstream.ts'
import { startCompletion } from './faked-completion.ts'

afterEach(() => {
  vi.useRealTimers()
})

const FOUR_MEBIBYTES = 'x'.repeat(4 * 1024 * 1024)

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

  it('holds no more than 32 MiB: an upstream that writes more has to wait', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(...Array.from({ length: 10 }, () => word(FOUR_MEBIBYTES)))
    await run.settle()
    expect(run.callFor('a').body.unread).toBe(2)
    run.callFor('b').fail(new UpstreamFailedError())
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('that the client no longer waits for holds no upstream up: its usage is read and billed', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(...Array.from({ length: 10 }, () => word(FOUR_MEBIBYTES)))
    await run.settle()
    run.answer.leaving.abort()
    run.callFor('b').abort()
    run.callFor('a').body.end(FINISH, USAGE_CHUNK, DONE)
    await run.settle()
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 15_000n, estimated: false }])
  })

  it('comes before the error of a prompt that broke off meanwhile, whose words are delivered and billed', async () => {
    const run = startCompletion({ prompt: ['a', 'b'], stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('Hi'))
    run.callFor('a').body.breakOff()
    await run.settle()
    expect(run.answer.isOpen).toBe(false)
    run.callFor('b').answer()
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.text).toContain('"text":"Hi"')
    expect(run.answer.text).toContain('"code":"upstream_error"')
    expect(run.resolved).toMatchObject([{ kind: 'settle', estimated: true }])
  })

  it('comes before the ninth prompt is sent, although the first was answered', async () => {
    const prompt = Array.from({ length: 9 }, (_, index) => `p${index}`)
    const run = startCompletion({ prompt, stream: true })
    await run.settle()
    run.callFor('p0').answer()
    run.callFor('p0').body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    await run.settle()
    expect(run.calls).toHaveLength(8)
    for (const call of run.calls.slice(1)) {
      call.answer()
    }
    await run.settle()
    expect(run.calls).toHaveLength(9)
    run.callFor('p1').body.breakOff()
    for (const call of run.calls) {
      call.fail(new UpstreamFailedError())
    }
    await run.over
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
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    vi.advanceTimersByTime(60_000)
    expect(run.answer.isOpen).toBe(false)
    run.callFor('a').answer()
    await run.settle()
    vi.advanceTimersByTime(14_999)
    expect(run.answer.isOpen).toBe(false)
    vi.advanceTimersByTime(1)
    expect(run.answer.text).toBe(': keep-alive\n\n')
    run.callFor('a').body.end(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    await run.over
    const { text } = run.answer
    vi.advanceTimersByTime(60_000)
    expect(run.answer.text).toBe(text)
    expect(vi.getTimerCount()).toBe(0)
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
    vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const run = startCompletion({ prompt: 'a', stream: true })
    await run.settle()
    run.callFor('a').answer()
    run.callFor('a').body.write(word('Hi'), FINISH, USAGE_CHUNK, DONE)
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.answer.ends).toBe(1)
    vi.advanceTimersByTime(999)
    expect(run.callFor('a').body.isDestroyed).toBe(false)
    vi.advanceTimersByTime(1)
    expect(run.callFor('a').body.isDestroyed).toBe(true)
    expect(run.callFor('a').reports).not.toContain('failed')
  })
})
