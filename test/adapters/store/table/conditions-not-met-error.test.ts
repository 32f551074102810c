import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { AwsConnectionError, AwsServiceError } from '#adapters/aws/aws-service-error.ts'
import {
  ConditionsNotMetError,
  explainCancellation,
  isRefusal,
  isWorthAnotherTry,
} from '#adapters/store/table/conditions-not-met-error.ts'

type Reason = { readonly Code?: string; readonly Item?: Record<string, { readonly N: string }> }

/** The same cancellation, by the SDK and by our own client. */
const cancellations = (...CancellationReasons: Reason[]) => [
  new TransactionCanceledException({ message: 'cancelled', $metadata: {}, CancellationReasons }),
  new AwsServiceError(400, undefined, { __type: 'x#TransactionCanceledException', CancellationReasons }),
]

describe('explainCancellation', () => {
  it('names the writes whose conditions failed, with the items that refused them', () => {
    const reasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item: { n: { N: '9007199254740993' } } }]
    for (const cause of cancellations(...reasons, { Code: 'ConditionalCheckFailed' }, {})) {
      const error = explainCancellation(cause, ['key', 'balance', 'row', 'job'], true)
      expect(error).toBeInstanceOf(ConditionsNotMetError)
      expect(error).toMatchObject({
        failed: new Set(['balance', 'row']),
        oldItems: new Map([['balance', { n: 9_007_199_254_740_993n }]]),
        isFinal: true,
        cause,
      })
    }
  })

  it('says when an earlier try may still arrive', () => {
    for (const cause of cancellations({ Code: 'ConditionalCheckFailed' })) {
      expect(explainCancellation(cause, ['first'], false)).toMatchObject({ isFinal: false })
    }
  })

  it.each([
    [
      'a conflict beside a failed condition',
      cancellations({ Code: 'ConditionalCheckFailed' }, { Code: 'TransactionConflict' }),
    ],
    ['an invalid item', cancellations({ Code: 'None' }, { Code: 'ValidationError' })],
    ['another error', [new TypeError('undefined is not a function')]],
  ])('leaves %s as it is', (_, errors) => {
    for (const error of errors) {
      expect(explainCancellation(error, ['first', 'second'], true)).toBe(error)
    }
  })
})

describe('isRefusal', () => {
  const refusalOf = (status: number, name: string) => new AwsServiceError(status, undefined, { __type: `x#${name}` })

  it.each([
    ['a cancelled transaction', cancellations({ Code: 'TransactionConflict' })[1], true],
    ['the same of the SDK', cancellations({ Code: 'TransactionConflict' })[0], true],
    ['throttling', refusalOf(400, 'ThrottlingException'), true],
    ['an invalid request', refusalOf(400, 'ValidationException'), true],
    ['a transaction in progress', refusalOf(400, 'TransactionInProgressException'), false],
    ['a fault of the service', refusalOf(500, 'InternalServerError'), false],
    ['a broken connection', new AwsConnectionError('broken'), false],
    ['an error of our own', new TypeError('undefined is not a function'), false],
  ])('knows of %s whether anything may be written', (_, error, expected) => {
    expect(isRefusal(error)).toBe(expected)
  })
})

describe('isWorthAnotherTry', () => {
  it.each([
    [['None', 'TransactionConflict'], true],
    [['ThrottlingError'], true],
    [['ProvisionedThroughputExceeded'], true],
    [['ConditionalCheckFailed', 'TransactionConflict'], true],
    [['ConditionalCheckFailed', 'None'], false],
    [['ValidationError'], false],
  ])('of a transaction cancelled for %j: %s', (codes, expected) => {
    for (const error of cancellations(...codes.map((Code) => ({ Code })))) {
      expect(isWorthAnotherTry(error)).toBe(expected)
    }
  })
})

describe('ConditionsNotMetError', () => {
  it('names five writes at most in its message', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    expect(new ConditionsNotMetError(names.slice(0, 2)).message).toBe('conditions not met: a, b')
    expect(new ConditionsNotMetError(names).message).toBe('conditions not met: a, b, c, d, e and 2 more')
  })
})
