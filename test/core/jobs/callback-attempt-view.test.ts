import { describe, expect, it } from 'vitest'
import { callbackAttemptView, inOrder } from '#core/jobs/callback-attempt-view.ts'

const delivered = { at: 5, attempt: 1, status: 204, milliseconds: 3, delivered: true }

describe('callbackAttemptView', () => {
  it('has null for what an attempt lacks', () => {
    expect(callbackAttemptView(delivered)).toEqual({ ...delivered, error: null })
    const silent = { at: 5, attempt: 2, milliseconds: 15_000, error: 'no response in time', delivered: false }
    expect(callbackAttemptView(silent)).toEqual({ ...silent, status: null })
  })
})

describe('inOrder', () => {
  it('sorts attempts by number and keeps each once', () => {
    const second = { ...delivered, attempt: 2 }
    expect(inOrder([second, delivered, second])).toEqual([delivered, second])
  })
})
