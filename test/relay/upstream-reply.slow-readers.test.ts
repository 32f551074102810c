import { Metrics } from '@aws-lambda-powertools/metrics'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { UPSTREAM_ERROR_CLASSES } from '#core/measures.ts'
import { useCalling } from './calling.ts'
import { answerOf, chunksOf, usePosting } from './posting.ts'
import { CHUNKED_HEAD, chunkOf, httpAnswer, LAST_CHUNK, type RawRequest } from './raw-upstream.ts'

const { start, post } = usePosting()
const { state, addChannel, call } = useCalling()

/** More than is held of an answer before its upstream is made to wait. */
const PLENTY = 'x'.repeat(300_000)
const CLOSE_DELIMITED_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n'

let passed: number
let restoreClock: () => void
beforeEach(() => {
  passed = 0
  const now = performance.now.bind(performance)
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed)
  restoreClock = () => clock.mockRestore()
})
afterEach(() => restoreClock())

type Body = Awaited<ReturnType<typeof answerOf>>['body']

/** Reads nothing until the upstream is made to wait, and then for so long. */
async function holdUp(body: Body, milliseconds: number): Promise<void> {
  await body.peek(20_000)
  passed += milliseconds
}

const endOf = (body: Body) => new Promise((resolve) => body.onceOver(resolve))

describe('UpstreamReply: a body whose upstream broke off', () => {
  it.each([
    ['held up when its reader had made the upstream wait for a second', 1_000, 'held_up'],
    ['broken when it had waited for less, as readers that keep up let it', 900, 'broken'],
  ])('ended %s', async (_, milliseconds, end) => {
    const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD + chunkOf(PLENTY)))
    const { body } = await answerOf(post(upstream))
    await holdUp(body, milliseconds)
    upstream.requests[0]?.socket.resetAndDestroy()
    await expect(chunksOf(body)).rejects.toThrow('broke off')
    expect(await endOf(body)).toBe(end)
  })

  it('ended held up when it had waited often for a short time, and was not waiting any more', async () => {
    const upstream = await start(({ socket }) => socket.write(CHUNKED_HEAD))
    const { body } = await answerOf(post(upstream))
    for (let turn = 0; turn < 4; turn += 1) {
      upstream.requests[0]?.socket.write(chunkOf(PLENTY))
      for (let left = PLENTY.length; left > 0; ) {
        const { value } = await body.next()
        left -= value?.length ?? 0
        // Node hands on what it has read before the next of our reads.
        await new Promise(setImmediate)
        passed += 300
      }
    }
    const last = body.next()
    upstream.requests[0]?.socket.resetAndDestroy()
    await expect(last).rejects.toThrow('broke off')
    expect(await endOf(body)).toBe('held_up')
  })

  it('may look whole where nothing but the end of its connection ends it', async () => {
    const upstream = await start(({ socket }) => socket.end(CLOSE_DELIMITED_HEAD + PLENTY))
    const { body } = await answerOf(post(upstream))
    await holdUp(body, 1_000)
    expect((await chunksOf(body)).join('')).toHaveLength(PLENTY.length)
    expect(await endOf(body)).toBe('held_up')
  })
})

describe('UpstreamReply: a body that came whole', () => {
  it.each([
    ['of a known length', httpAnswer(200, PLENTY)],
    ['in chunks', CHUNKED_HEAD + chunkOf(PLENTY) + LAST_CHUNK],
  ])('(%s) is whole, however long its upstream was made to wait', async (_, bytes) => {
    const upstream = await start(({ socket }) => socket.write(bytes))
    const { body } = await answerOf(post(upstream))
    await holdUp(body, 60_000)
    await chunksOf(body)
    expect(await endOf(body)).toBe('whole')
  })
})

describe('a channel whose replies break off', () => {
  const breaker = { failures: 3, pause_seconds: 10 }
  const breakerOfMain = () => state.breakers.shownState({ id: 'main' }, state.nowMilliseconds)
  const reset = ({ socket }: RawRequest) => void socket.resetAndDestroy()
  const addMetric = jest.spyOn(Metrics.prototype, 'addMetric')
  const upstreamErrors = () =>
    addMetric.mock.calls
      .filter(([name]) => name === 'upstream_error')
      .map(([, , number]) => UPSTREAM_ERROR_CLASSES[number - 1])

  /** Breaks off an answer after it was not read for so long, and reports the missing end of the stream. */
  async function readSlowly(milliseconds: number, breakOff: () => void): Promise<void> {
    const { body, failed } = await call()
    await holdUp(body, milliseconds)
    breakOff()
    await chunksOf(body).catch(() => undefined)
    failed('no_end')
  }

  it.each([
    ['reset', CHUNKED_HEAD + chunkOf(PLENTY), reset],
    ['ended', CLOSE_DELIMITED_HEAD + PLENTY, ({ socket }: RawRequest) => void socket.end()],
    ['silent', CHUNKED_HEAD + chunkOf(PLENTY), () => undefined],
  ])('(%s) stays in use when their readers had held them up, and no failure is counted', async (_, bytes, act) => {
    const main = await addChannel('main', ({ socket }) => socket.write(bytes), {
      breaker,
      timeouts: { idle_seconds: 0.05 },
    })
    for (let turn = 0; turn < 4; turn += 1) {
      await readSlowly(2_000, () => act(main.requests[turn] ?? fail()))
    }
    expect(breakerOfMain()).toBe('closed')
    expect(upstreamErrors()).toStrictEqual([])
  })

  it('is left alone when their readers kept up', async () => {
    const main = await addChannel('main', ({ socket }) => socket.write(CHUNKED_HEAD + chunkOf(PLENTY)), { breaker })
    for (let turn = 0; turn < 3; turn += 1) {
      await readSlowly(10, () => reset(main.requests[turn] ?? fail()))
    }
    expect(breakerOfMain()).toBe('open')
    expect(upstreamErrors()).toStrictEqual(Array.from({ length: 3 }, () => 'broken_reply'))
  })

  it('has its row of failures neither ended nor made longer by one that was held up', async () => {
    const main = await addChannel('main', ({ socket }) => socket.write(CHUNKED_HEAD + chunkOf(PLENTY)), { breaker })
    for (const [turn, milliseconds] of [10, 10, 2_000, 10].entries()) {
      await readSlowly(milliseconds, () => reset(main.requests[turn] ?? fail()))
    }
    expect(breakerOfMain()).toBe('open')
  })
})

function fail(): never {
  throw new Error('no request came')
}
