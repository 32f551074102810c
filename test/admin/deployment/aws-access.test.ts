import { describe, expect, it } from 'vitest'
import { explainAwsAccess } from '../../../lib/cli/failures.ts'

const error = (name: string, message: string) => Object.assign(new Error(message), { name })

describe('aws-access', () => {
  it.each([
    [error('Error', 'Region is missing'), 'no AWS region is set: export AWS_REGION'],
    [error('CredentialsProviderError', 'no profile'), 'no AWS credentials that work (no profile)'],
    [error('ExpiredTokenException', 'expired'), 'AWS refuses the credentials (expired): sign in again'],
    [error('SignatureDoesNotMatch', ''), 'AWS refuses the credentials (SignatureDoesNotMatch)'],
  ])('explains %s', (reason, sentence) => {
    expect(explainAwsAccess(reason)).toContain(sentence)
  })

  it.each([error('AccessDenied', 'no permission'), 'Region is missing', undefined])('leaves %s to others', (reason) => {
    expect(explainAwsAccess(reason)).toBeUndefined()
  })
})
