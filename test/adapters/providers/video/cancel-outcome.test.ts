import { describe, expect, it } from 'vitest'
import { cancelOutcome } from '#adapters/providers/video/cancel-outcome.ts'

const outcome = (status: number, text: string) => cancelOutcome({ kind: 'response', status, headers: {}, text })

describe('cancelOutcome', () => {
  it.each(['{}', '{"request_id":"r"}', '', '{"code":"Success"}'])('is cancelled after a 200 with %j', (text) => {
    expect(outcome(200, text)).toBe('cancelled')
  })

  it.each([
    [200, '{"code":"UnsupportedOperation"}'],
    [400, '{"code":"UnsupportedOperation"}'],
    [409, '{}'],
  ])('is refused after a %i with %j', (status, text) => {
    expect(outcome(status, text)).toBe('refused')
  })

  it.each([
    [200, '<html>'],
    [302, ''],
    [401, ''],
    [403, ''],
    [429, '{}'],
    [404, '{}'],
    [408, ''],
    [500, '{}'],
    [503, '{"code":"x"}'],
  ])('is unknown after a %i with %j', (status, text) => {
    expect(outcome(status, text)).toBe('unknown')
  })

  it('is unknown when the request never left or no answer came', () => {
    expect(cancelOutcome({ kind: 'not_sent', reason: 'ECONNREFUSED' })).toBe('unknown')
    expect(cancelOutcome({ kind: 'no_response', reason: 'timeout' })).toBe('unknown')
  })
})
