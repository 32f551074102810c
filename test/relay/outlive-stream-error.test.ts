import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { outliveStreamError } from '#lambdas/relay/outlive-stream-error.ts'

const spy = jest.spyOn(process, 'on')
afterEach(() => {
  spy.mockClear()
})

/** The listener for rejections that the call adds. */
function listenerAfter(error: Error): (reason: unknown) => void {
  outliveStreamError(error)
  const [, listener] = spy.mock.calls.find(([event]) => event === 'unhandledRejection') ?? []
  if (listener === undefined) {
    throw new Error('no listener was added')
  }
  return listener as (reason: unknown) => void
}

describe('outliveStreamError', () => {
  it('drops a rejection with the error of the stream', () => {
    const error = new Error('socket hang up')
    expect(() => listenerAfter(error)(error)).not.toThrow()
  })

  it.each([new Error('socket hang up'), 'reason', undefined])(
    'lets any other rejection end the process: %s',
    (reason) => {
      expect.assertions(1)
      try {
        listenerAfter(new Error('socket hang up'))(reason)
      } catch (thrown) {
        expect(thrown).toBe(reason)
      }
    },
  )

  it('listens in the turn of the error only', async () => {
    await setImmediate()
    const before = process.listenerCount('unhandledRejection')
    outliveStreamError(new Error('socket hang up'))
    expect(process.listenerCount('unhandledRejection')).toBe(before + 1)
    await setImmediate()
    expect(process.listenerCount('unhandledRejection')).toBe(before)
  })
})
