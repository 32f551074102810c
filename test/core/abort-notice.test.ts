import { describe, expect, it, jest } from '@jest/globals'
import { Abort } from '#core/abort-notice.ts'

describe('Abort', () => {
  it('calls each listener once, however often it fires', () => {
    const abort = new Abort()
    const listeners = [jest.fn(), jest.fn()]
    for (const listener of listeners) {
      abort.addEventListener('abort', listener, { once: true })
      abort.addEventListener('abort', listener)
    }
    expect(abort.aborted).toBe(false)
    abort.abort()
    abort.abort()
    expect(abort.aborted).toBe(true)
    expect(listeners.map((listener) => listener.mock.calls.length)).toEqual([1, 1])
  })

  it('calls nobody who has left, nor anybody who comes later', () => {
    const abort = new Abort()
    const [left, late] = [jest.fn(), jest.fn()]
    abort.addEventListener('abort', left)
    abort.removeEventListener('abort', left)
    abort.abort()
    abort.addEventListener('abort', late)
    abort.abort()
    expect([left.mock.calls, late.mock.calls]).toEqual([[], []])
  })

  it('does not call a listener that another one has removed while it fires', () => {
    const abort = new Abort()
    const removed = jest.fn()
    abort.addEventListener('abort', () => abort.removeEventListener('abort', removed))
    abort.addEventListener('abort', removed)
    abort.abort()
    expect(removed).not.toHaveBeenCalled()
  })
})
