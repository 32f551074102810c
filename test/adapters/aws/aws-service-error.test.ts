import { describe, expect, it } from 'vitest'
import { AwsConnectionError, AwsServiceError } from '#adapters/aws/aws-service-error.ts'

describe('AwsServiceError', () => {
  it.each([
    ['com.amazonaws.dynamodb.v20120810#ThrottlingException', 'ThrottlingException'],
    ['AccessDeniedException', 'AccessDeniedException'],
    [undefined, 'UnknownError'],
  ])('takes its name from the type %s', (__type, name) => {
    expect(new AwsServiceError(400, undefined, { __type }).name).toBe(name)
  })

  it.each([
    ['message', { message: 'words' }, 'words'],
    ['Message', { Message: 'words' }, 'words'],
    ['the name', { __type: 'x#Busy' }, 'Busy'],
  ])('takes its message from %s', (_, body, message) => {
    expect(new AwsServiceError(400, undefined, body).message).toBe(message)
  })

  it.each([
    [499, 'client'],
    [500, 'server'],
  ])('says whose fault a %i is: %s', (status, fault) => {
    expect(new AwsServiceError(status, 'R1')).toMatchObject({
      $fault: fault,
      $metadata: { httpStatusCode: status, requestId: 'R1' },
    })
  })
})

describe('AwsConnectionError', () => {
  it('says of nobody that the fault was theirs', () => {
    expect(new AwsConnectionError('no connection in time')).not.toHaveProperty('$fault')
  })
})
