import { describe, expect, it } from '@jest/globals'
import { explainAwsAccess, explainFailure, unreadableStack } from '../../lib/cli/failures.ts'

const named = (name: string, message: string) => Object.assign(new Error(message), { name })

describe('explainFailure: a failure', () => {
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

const error = (name: string, message: string) => Object.assign(new Error(message), { name })

describe('explainAwsAccess', () => {
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

describe('unreadableStack', () => {
  it('says what to do where the stack may be missing', () => {
    const error = unreadableStack('the stack S', new Error('does not exist'))
    expect(error.name).toBe('DeploymentNotFoundError')
    expect(error.message).toBe(
      'the stack S cannot be read (does not exist): deploy it, choose another --stage, or add --local',
    )
  })

  it('says nothing of the stack where AWS could not be asked', () => {
    const cause = new Error('Region is missing')
    const error = unreadableStack('the stack S', cause)
    expect(error.name).toBe('CommandFailedError')
    expect(error.message).toMatch(/^no AWS region is set/)
    expect(error.cause).toBe(cause)
  })
})
