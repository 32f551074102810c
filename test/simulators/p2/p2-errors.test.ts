import { describe, expect, it } from 'vitest'
import { P2_PROBLEMS, p2Failure, p2Problem, p2Refusal } from '../../../lib/simulators/p2/p2-errors.ts'
import { at } from '../shared/simulator-client.ts'

describe('p2-errors', () => {
  it('nests an error under its type, with the request id behind its message and no parameter', () => {
    const { status, body, headers } = p2Problem(P2_PROBLEMS.key)
    expect([status, at(body, 'error', 'type'), at(body, 'error', 'param')]).toEqual([401, 'Unauthorized', ''])
    expect(at(body, 'error', 'message')).toMatch(/missing or invalid\. Request id: 021\d{13}[0-9a-f]{16}$/)
    expect(headers?.['x-request-id']).toMatch(/^021/)
  })

  it.each([
    ['refuse', 400, 'InvalidParameter'],
    ['refuse:moderated', 400, 'InputTextSensitiveContentDetected'],
    ['refuse:person', 400, 'InputImageSensitiveContentDetected.PrivacyInformation'],
    ['arrears', 403, 'AccountOverdueError'],
    ['not-open', 404, 'ModelNotOpen'],
    ['busy', 429, 'ModelAccountRpmRateLimitExceeded'],
    ['busy:quota', 429, 'SetLimitExceeded'],
    ['busy:overloaded', 429, 'ServerOverloaded'],
  ] as const)('refuses [%s] with %i %s', (refusal, status, code) => {
    const answer = p2Refusal(refusal)
    expect([answer.status, at(answer.body, 'error', 'code')]).toEqual([status, code])
  })

  it.each([
    [418, 'InvalidParameter', 'BadRequest'],
    [500, 'InternalServiceError', 'InternalServerError'],
    [503, 'ServiceUnavailable', 'ServiceUnavailable'],
  ])('has a body for [error:%i]', (status, code, type) => {
    const answer = p2Failure(status)
    expect(answer.status).toBe(status)
    expect([at(answer.body, 'error', 'code'), at(answer.body, 'error', 'type')]).toEqual([code, type])
  })
})
