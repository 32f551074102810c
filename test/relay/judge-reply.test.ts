import { describe, expect, it } from 'vitest'
import { judgeRefusal } from '#lambdas/relay/judge-reply.ts'
import type { UpstreamError } from '#upstream/providers/reply-reading.ts'

const NO_WORDS = { code: undefined, type: undefined, message: undefined }

/** An answer with an error of this wire that has so many of its members. */
const withError = (status: number, error: Partial<UpstreamError> = {}) =>
  judgeRefusal({ status, error: { ...NO_WORDS, ...error }, hasError: true })

const withoutError = (status: number) => judgeRefusal({ status, error: NO_WORDS, hasError: false })

describe('an answer without success', () => {
  it.each([400, 409, 413, 415, 422])('of status %d is about the request, whatever its body is', (status) => {
    expect([withError(status), withoutError(status)]).toStrictEqual(['request', 'request'])
  })

  it.each([404, 405, 410])(
    'of status %d is about the request with an error, and else the channel’s fault',
    (status) => {
      expect([withError(status), withoutError(status)]).toStrictEqual(['request', 'failed'])
    },
  )

  it.each([
    406, 407, 408, 411, 412, 414, 416, 417, 418, 421, 423, 424, 425, 426, 428, 431, 451, 499, 300, 307, 500, 503, 529,
  ])('of status %d is the channel’s fault, whatever its body is', (status) => {
    expect([withError(status), withoutError(status)]).toStrictEqual(['failed', 'failed'])
  })

  it.each([401, 402, 403])('of status %d is about the gateway’s key or account', (status) => {
    expect([withError(status), withoutError(status)]).toStrictEqual(['refused', 'refused'])
  })

  it.each([403, 451])('of status %d is about the request where its error names the content', (status) => {
    expect(withError(status, { code: 'content_policy_violation' })).toBe('request')
  })

  it.each([400, 404, 409, 422])('of status %d that names the account is about the account', (status) => {
    expect(withError(status, { code: 'billing_hard_limit_reached' })).toBe('refused')
    expect(withError(status, { type: 'insufficient_quota' })).toBe('refused')
  })

  it('of status 429 asks for patience, unless the account is empty', () => {
    expect(withError(429)).toBe('busy')
    expect(withError(429, { code: 'insufficient_quota' })).toBe('refused')
    expect(withError(429, { message: 'insufficient balance' })).toBe('refused')
  })

  it('is not judged by words that may be the client’s', () => {
    expect(withError(400, { message: 'unknown value "insufficient balance"' })).toBe('request')
  })
})
