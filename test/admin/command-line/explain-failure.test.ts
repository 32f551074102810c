import { describe, expect, it } from 'vitest'
import { explainFailure } from '../../../lib/cli/failures.ts'

const named = (name: string, message: string) => Object.assign(new Error(message), { name })

describe('a failure of a command', () => {
  it.each([
    [new Error('Region is missing'), 'no AWS region is set: export AWS_REGION, or name a profile'],
    [named('CredentialsProviderError', 'Could not load'), 'no AWS credentials that work (Could not load): export them'],
    [named('TokenProviderError', 'Token is expired'), 'no AWS credentials that work (Token is expired): export them'],
    [named('ExpiredTokenException', 'expired'), 'AWS refuses the credentials (expired): sign in again'],
    [named('InvalidClientTokenId', ''), 'AWS refuses the credentials (InvalidClientTokenId): sign in again'],
    [named('AccessDeniedException', 'not authorized to perform'), 'not authorized to perform'],
  ])('that AWS has with the environment is one sentence with what to do: %s', (error, sentence) => {
    const told = explainFailure(error)
    expect(told).toContain(sentence)
    expect(told).not.toContain('\n')
  })

  it('of our own is not explained away', () => {
    expect(explainFailure(new TypeError('undefined is not a box'))).toBeUndefined()
    expect(explainFailure('text')).toBeUndefined()
  })
})
