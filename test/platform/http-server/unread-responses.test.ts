import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { UnreadResponses } from '#platform/http-server/unread-responses.ts'
import { startLocalApi } from '../../local/local-api.ts'

const BOUNDS = { keyBytesMax: 100, processBytesMax: 250, lookMilliseconds: 20 }

/** Holds answers under names and tells which were cut. */
function openAnswers() {
  const unread = new UnreadResponses(BOUNDS)
  const cut: string[] = []
  const hold = (key: string, bytes: number, name: string) => unread.hold(key, bytes, () => cut.push(name))
  return { hold, cut }
}

describe('UnreadResponses: responses that wait for their clients', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }))
  afterEach(() => void jest.useRealTimers())

  it('wait as long as they like within the bounds', () => {
    const { hold, cut } = openAnswers()
    hold('a', 100, 'a1')
    hold('b', 100, 'b1')
    jest.advanceTimersByTime(800)
    expect(cut).toEqual([])
  })

  it('of one key are cut above its bound, those first that were read last the longest ago', () => {
    const { hold, cut } = openAnswers()
    hold('b', 100, 'b1')
    const first = hold('a', 60, 'a1')
    hold('a', 60, 'a2')
    jest.advanceTimersByTime(100)
    first.taken()
    expect(cut).toEqual([])
    jest.advanceTimersByTime(800)
    expect(cut).toEqual(['a2'])
  })

  it('of all keys are cut above the bound of the process', () => {
    const { hold, cut } = openAnswers()
    for (const key of ['a', 'b', 'c']) {
      hold(key, 90, key)
    }
    jest.advanceTimersByTime(800)
    expect(cut).toEqual(['a'])
  })

  it('are not cut while their clients read', () => {
    const { hold, cut } = openAnswers()
    const answers = [hold('a', 60, 'a1'), hold('a', 60, 'a2')]
    for (let round = 0; round < 60; round += 1) {
      for (const answer of answers) {
        answer.taken()
      }
      jest.advanceTimersByTime(10)
    }
    expect(cut).toEqual([])
  })

  it('are not cut for what a busy process did not send', async () => {
    jest.useRealTimers()
    const { hold, cut } = openAnswers()
    const answers = [hold('a', 60, 'a1'), hold('a', 60, 'a2')]
    for (let round = 0; round < 4; round += 1) {
      const busyUntil = performance.now() + 300
      while (performance.now() < busyUntil) {
        // Nothing can be taken meanwhile.
      }
      await sleep(1)
      for (const answer of answers) {
        answer.taken()
      }
    }
    expect(cut).toEqual([])
  })

  it('are cut sooner above twice a bound', () => {
    const { hold, cut } = openAnswers()
    for (const name of ['a1', 'a2', 'a3', 'a4']) {
      hold('a', 60, name)
    }
    jest.advanceTimersByTime(120)
    expect(cut).toEqual(['a1'])
  })

  it('count no more once they are released, however often that is said', () => {
    const { hold, cut } = openAnswers()
    for (let round = 0; round < 20; round += 1) {
      const answer = hold('a', 90, 'a')
      answer.release()
      answer.release()
      answer.taken()
    }
    hold('a', 90, 'last')
    jest.advanceTimersByTime(600)
    expect(cut).toEqual([])
  })
})

describe('a response over the local front', () => {
  const MIB = 1024 * 1024
  const bounds = { keyBytesMax: 60 * MIB, processBytesMax: 120 * MIB, lookMilliseconds: 200 }
  let api: Awaited<ReturnType<typeof startLocalApi>>
  beforeAll(async () => {
    api = await startLocalApi({ unread: new UnreadResponses(bounds) })
  })
  afterAll(() => api.close())

  it('that is never read is cut when the key has more of them than it may, and its handler hears of it', async () => {
    let closed = 0
    api.serve({
      streamHandler: async (_event, responseStream) => {
        responseStream.once('close', () => {
          closed += 1
        })
        const headers = { 'content-length': String(32 * MIB) }
        const stream = awslambda.HttpResponseStream.from(responseStream, { headers })
        stream.write('')
        stream.end(Buffer.alloc(32 * MIB))
      },
      timeoutSeconds: 30,
    })
    const sockets = await Promise.all([api.open(), api.open()])
    for (const socket of sockets) {
      socket.pause().on('error', () => undefined)
    }
    for (let waited = 0; closed === 0 && waited < 15_000; waited += 50) {
      await sleep(50)
    }
    expect(closed).toBe(1)
    for (const socket of sockets) {
      socket.destroy()
    }
    await api.front.invocationsEnded(5_000)
  })

  it('that is read at once may be as large as it is, several at a time', async () => {
    const body = 'x'.repeat(32 * MIB)
    api.serve({ handler: async () => ({ statusCode: 200, body }), timeoutSeconds: 30 })
    const answers = await Promise.all([api.post(), api.post(), api.post()])
    expect(answers.map(({ text, isWhole }) => [text.length, isWhole])).toEqual(Array(3).fill([body.length, true]))
  })
})
