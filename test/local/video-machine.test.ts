import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { startReconciling } from '#local/video-machine.ts'

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }))
afterEach(() => void jest.useRealTimers())

const all = (isAll: boolean) => expect.objectContaining({ detail: expect.objectContaining({ all: isAll }) })

it('reconciles everything at the start, and what is due every minute, also after a run that failed', async () => {
  const reconcile = jest.fn(() => Promise.reject(new Error('the table does not respond')))
  const end = startReconciling(reconcile, 'process')
  expect(reconcile.mock.calls).toEqual([[all(true)]])
  await jest.advanceTimersByTimeAsync(120_000)
  expect(reconcile.mock.calls.slice(1)).toEqual([[all(false)], [all(false)]])
  await end()
})

it('ends with its last run, and begins no other', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const reconcile = jest.fn(() => promise)
  let hasEnded = false
  const ended = startReconciling(reconcile, 'process')().then(() => {
    hasEnded = true
  })
  await jest.advanceTimersByTimeAsync(120_000)
  expect(hasEnded).toBe(false)
  resolve()
  await ended
  expect(reconcile).toHaveBeenCalledTimes(1)
})
