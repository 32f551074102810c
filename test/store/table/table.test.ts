import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { AwsConnectionError, AwsServiceError } from '#platform/aws/call-aws-service.ts'
import {
  ConditionsNotMetError,
  decodeItem,
  encodeItem,
  explainCancellation,
  isRefusal,
  isWorthAnotherTry,
  queryItems,
  queryPartition,
  type Table,
  type TableQuery,
} from '#store/table/table.ts'

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

const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }).filter((value) => !Number.isSafeInteger(Number(value))),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    integer,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(
      fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
      tie('any'),
      { maxKeys: 4 },
    ),
  ),
})).any
const item = fc.dictionary(
  fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
  value,
)

describe('encodeItem and decodeItem: an item', () => {
  it('is read back as it was written, whatever strings, numbers, lists and maps it holds', () => {
    fc.assert(
      fc.property(item, (original) => {
        expect(decodeItem(Object(parseJsonText(JSON.stringify(encodeItem(original)))))).toEqual({ ...original })
      }),
      { numRuns: 200 },
    )
  })

  it('leaves out what is undefined', () => {
    expect(encodeItem({ a: undefined, b: { c: undefined, d: '1' } })).toEqual({ b: { M: { d: { S: '1' } } } })
  })

  it('keeps fractions, and integers beyond the exact range of a double', () => {
    expect(
      decodeItem({ a: { N: '0.25' }, b: { N: '9007199254740993' }, c: { N: '-9007199254740993' }, d: { N: '12' } }),
    ).toEqual({
      a: 0.25,
      b: 9_007_199_254_740_993n,
      c: -9_007_199_254_740_993n,
      d: 12,
    })
  })

  it.each([[{ a: { B: 'AA==' } }], [{ a: { SS: ['b'] } }], [{ a: {} }]])(
    'with %j is refused: the table has no such attribute',
    (encoded) => {
      expect(() => decodeItem(encoded)).toThrow(expect.objectContaining({ name: 'UnknownAttributeError' }))
    },
  )

  it('with a function in it is refused', () => {
    expect(() => encodeItem({ a: () => 1 })).toThrow(expect.objectContaining({ name: 'UnknownAttributeError' }))
  })
})

const QUERY: TableQuery = { KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': 'x' } }

/** A table whose query has these pages; its `asked` has each query with the key it started at. */
function pagedTable(pages: readonly (readonly number[])[]) {
  const asked: [TableQuery, unknown][] = []
  const queryPage: Table['queryPage'] = async (query, startKey) => {
    asked.push([query, startKey])
    const page = Number(startKey?.page ?? 0)
    const nextKey = page + 1 < pages.length ? { page: page + 1 } : undefined
    return { items: (pages[page] ?? []).map((number) => ({ number })), nextKey }
  }
  return { queryPage, asked }
}

const numbersOf = async (items: AsyncIterable<object>) => {
  const numbers: unknown[] = []
  for await (const item of items) {
    numbers.push('number' in item ? item.number : undefined)
  }
  return numbers
}

describe('queryItems', () => {
  it('finds every item, past a page without any', async () => {
    const table = pagedTable([[1, 2], [], [3], []])
    expect(await numbersOf(queryItems(table, QUERY))).toEqual([1, 2, 3])
    expect(table.asked).toEqual([undefined, { page: 1 }, { page: 2 }, { page: 3 }].map((key) => [QUERY, key]))
  })

  it('reads no page that its caller does not get to', async () => {
    const table = pagedTable([[1, 2], [3], [4]])
    for await (const { number } of queryItems(table, QUERY)) {
      if (number === 2) {
        break
      }
    }
    expect(table.asked).toHaveLength(1)
  })
})

describe('queryPartition', () => {
  it('reads one partition, strongly consistent on every page', async () => {
    const table = pagedTable([[1], [2]])
    expect(await numbersOf(queryPartition(table, 'T#1'))).toEqual([1, 2])
    for (const [query] of table.asked) {
      expect(query).toMatchObject({ ConsistentRead: true, ExpressionAttributeValues: { ':pk': 'T#1' } })
    }
  })
})
