import { describe, expect, it } from 'vitest'
import { policyViolation, problemOfStatus, unauthorized } from '../../../lib/simulators/openai/openai-errors.ts'

const asked = { kind: undefined, model: 'm', retryAfter: undefined }

describe('openai-errors: problemOfStatus', () => {
  it.each([
    [401, undefined, { type: 'invalid_request_error', code: 'invalid_api_key' }],
    [402, undefined, { type: 'insufficient_quota', code: 'insufficient_quota' }],
    [403, undefined, { type: 'request_forbidden', code: 'access_denied' }],
    [404, undefined, { type: 'invalid_request_error', code: 'model_not_found' }],
    [429, undefined, { type: 'requests', code: 'rate_limit_exceeded' }],
    [429, 'quota', { type: 'insufficient_quota', code: 'insufficient_quota' }],
    [400, 'context', { type: 'invalid_request_error', code: 'context_length_exceeded', param: 'messages' }],
    [418, undefined, { type: 'invalid_request_error', code: null }],
    [500, undefined, { type: 'server_error', code: null }],
    [503, undefined, { type: 'server_error', code: null }],
  ])('of %i (%s) has the type and code of real upstreams', (status, kind, error) => {
    expect(problemOfStatus({ ...asked, status, kind })).toMatchObject({ status, error })
  })

  it.each([
    [429, undefined, undefined, '2'],
    [503, undefined, undefined, '2'],
    [429, 'quota', undefined, undefined],
    [500, undefined, undefined, undefined],
    [500, undefined, '7', '7'],
  ])('of %i (%s, asked for %s) has the retry-after %s', (status, kind, retryAfter, expected) => {
    expect(problemOfStatus({ ...asked, status, kind, retryAfter }).headers['retry-after']).toBe(expected)
  })
})

describe('openai-errors', () => {
  it('shows no more than the ends of a key', () => {
    expect(unauthorized('sk-very-secret-key').message).toBe('Incorrect API key provided: sk-v****key.')
    expect(unauthorized(undefined).error).toMatchObject({ code: null })
  })

  it('words a policy violation in both shapes that are in use', () => {
    expect(policyViolation('plain').error).not.toHaveProperty('inner_error')
    expect(policyViolation('nested').error).toHaveProperty('inner_error.code', 'ResponsibleAIPolicyViolation')
  })
})
