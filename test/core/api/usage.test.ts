import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  compareValues,
  parseUsageQuery,
  readDimensions,
  readUsageCursor,
  type UsageCursor,
  UsageGroups,
  usageReport,
  writeUsageCursor,
} from '#core/api/usage.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { NO_USAGE, type UsageCounter } from '#core/pricing/usage.ts'
import { usageCounter } from '../pricing/usage-counters.ts'

const TODAY = '2026-11-22'
const read = (query: Record<string, string>) => parseUsageQuery(query, TODAY)

/** The parameter that a query is refused for; undefined if it is read. */
function refusedFor(query: Record<string, string>): string | undefined {
  try {
    read(query)
    return undefined
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      const [issue] = error.issues
      expect(issue?.message).toContain(`\`${issue?.path}\``)
      return issue?.path
    }
    throw error
  }
}

describe('parseUsageQuery', () => {
  it('reads the last 30 days by day without parameters', () => {
    const expected = { from: '2026-10-24', to: TODAY, groupBy: ['day'], filter: {}, limit: 1_000, after: undefined }
    expect(read({})).toEqual(expected)
  })

  it('begins 30 days at a given `to`, and ends today after a given `from`', () => {
    expect(read({ to: '2026-03-01' })).toMatchObject({ from: '2026-01-31', to: '2026-03-01' })
    expect(read({ from: '2026-11-20' })).toMatchObject({ from: '2026-11-20', to: TODAY })
  })

  it('reads one day, and the longest range of 92 days', () => {
    expect(refusedFor({ from: TODAY, to: TODAY })).toBeUndefined()
    expect(refusedFor({ from: '2026-08-23', to: TODAY })).toBeUndefined()
  })

  it.each([
    ['from', { from: '2026-08-22', to: TODAY }],
    ['from', { from: '2026-08-22' }],
    ['from', { from: '2026-11-23' }],
    ['from', { from: '2026-11-02', to: '2026-11-01' }],
    ['from', { from: '2026-11-31' }],
    ['from', { from: '' }],
    ['to', { to: '1795263797' }],
    ['to', { from: '2026-11-01', to: 'today' }],
    ['group_by', { group_by: 'tenant' }],
    ['group_by', { group_by: 'day,day' }],
    ['group_by', { group_by: '' }],
    ['limit', { limit: '0' }],
    ['limit', { limit: '1001' }],
    ['limit', { limit: '-1' }],
    ['limit', { limit: '1.5' }],
    ['limit', { limit: '' }],
    ['model', { model: '' }],
    ['key', { key: 'x'.repeat(129) }],
    ['operation', { operation: '' }],
    ['after', { after: 'nonsense' }],
    ['after', { after: '' }],
  ])('names `%s` when it refuses %j', (name, query) => {
    expect(refusedFor(query)).toBe(name)
  })

  describe('with a cursor', () => {
    const after = writeUsageCursor({
      from: '2026-11-01',
      to: '2026-11-20',
      groupBy: ['key'],
      filter: {},
      last: ['key1'],
    })

    it('continues its query, whose parameters may be left out', () => {
      const expected = { from: '2026-11-01', to: '2026-11-20', groupBy: ['key'], filter: {}, limit: 5, after: ['key1'] }
      expect(read({ after, limit: '5' })).toEqual(expected)
      expect(read({ after, limit: '5', from: '2026-11-01', to: '2026-11-20', group_by: 'key' })).toEqual(expected)
    })

    it('continues a query without days on the next day', () => {
      const first = parseUsageQuery({}, '2026-11-21')
      const next = writeUsageCursor({ ...first, last: ['2026-11-01'] })
      expect(read({ after: next })).toMatchObject({ from: first.from, to: first.to })
    })

    it('continues its filters, which may be left out or repeated, and not be changed', () => {
      const filter = { model: 'chat-default', operation: 'create-embedding' }
      const filtered = writeUsageCursor({
        from: '2026-11-01',
        to: '2026-11-20',
        groupBy: ['key'],
        filter,
        last: ['key1'],
      })
      expect(read({ after: filtered }).filter).toEqual(filter)
      expect(read({ after: filtered, model: 'chat-default' }).filter).toEqual(filter)
      expect(refusedFor({ after: filtered, model: 'other' })).toBe('after')
      expect(refusedFor({ after, key: 'other' })).toBe('after')
    })

    it.each([{ from: '2026-11-02' }, { to: '2026-11-21' }, { group_by: 'key,day' }, { group_by: 'day' }])(
      'refuses another query: %j',
      (other) => {
        expect(refusedFor({ after, ...other })).toBe('after')
      },
    )

    it('refuses a range that no first page has', () => {
      const long = writeUsageCursor({
        from: '2020-01-01',
        to: TODAY,
        groupBy: ['day'],
        filter: {},
        last: ['2020-01-01'],
      })
      expect(refusedFor({ after: long })).toBe('from')
    })
  })
})

const cursor: UsageCursor = {
  from: '2026-11-01',
  to: '2026-11-22',
  groupBy: ['model', 'day'],
  filter: {},
  last: ['vendor/chat#β', '2026-11-05'],
}
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('writeUsageCursor', () => {
  it('writes what readUsageCursor reads, with characters that are safe in a url', () => {
    const text = writeUsageCursor(cursor)
    expect(readUsageCursor(text)).toEqual(cursor)
    expect(text).toMatch(/^[\w-]+$/)
  })
})

describe('readUsageCursor', () => {
  it.each([
    ['an empty string', ''],
    ['a string that is not base64', '%%%'],
    ['a string that is not JSON', Buffer.from('{').toString('base64url')],
    ['another shape', encode({ from: '2026-11-01' })],
    ['an unknown dimension', encode(['2026-11-01', '2026-11-22', ['tenant'], ['acme']])],
    ['fewer values than dimensions', encode(['2026-11-01', '2026-11-22', ['day', 'model'], ['2026-11-05']])],
    ['no dimension', encode(['2026-11-01', '2026-11-22', [], []])],
    ['a repeated dimension', encode(['2026-11-01', '2026-11-22', ['day', 'day'], ['2026-11-05', '2026-11-05']])],
    ['a day that is none', encode(['2026-11-01', 'zzz', ['day'], ['2026-11-05']])],
    ['a string that is too long', 'A'.repeat(5_000)],
  ])('refuses %s', (_, text) => {
    expect(readUsageCursor(text)).toBeUndefined()
  })
})

describe('readDimensions', () => {
  it.each([
    ['day', ['day']],
    ['operation,key,model,day', ['operation', 'key', 'model', 'day']],
    ['key,day', ['key', 'day']],
  ])('reads %s in its order', (text, expected) => {
    expect(readDimensions(text)).toEqual(expected)
  })

  it.each(['', 'tenant', 'day,', 'day,day', 'key,model,key', 'Day', 'day, model'])('refuses "%s"', (text) => {
    expect(readDimensions(text)).toBeUndefined()
  })
})

/** Pages of `limit` groups are the groups of one whole page, in its order and with its total. */
function expectSamePages(counters: UsageCounter[], by: string, limit: number): void {
  const whole = usageReport(counters, parseUsageQuery({ group_by: by }, TODAY))
  const rows: object[] = []
  let page = usageReport(counters, parseUsageQuery({ group_by: by, limit: String(limit) }, TODAY))
  for (;;) {
    rows.push(...page.data)
    expect(page.total).toEqual(whole.total)
    expect(page.data.length).toBeLessThanOrEqual(limit)
    if (page.next === null) {
      break
    }
    expect(page.data).toHaveLength(limit)
    page = usageReport(counters, parseUsageQuery({ after: page.next, limit: String(limit) }, TODAY))
  }
  expect(rows).toEqual(whole.data)
}

describe('usageReport', () => {
  it('shows each sum by its name, lengths in seconds and amounts as decimal strings', () => {
    const sums = {
      requests: 3,
      inputTokens: 10,
      cachedInputTokens: 20,
      cacheWriteTokens: 30,
      outputTokens: 40,
      videoMilliseconds: 5_040,
      images: 2,
      cost: 700_021n,
    }
    const shown = {
      requests: 3,
      input_tokens: 10,
      cached_input_tokens: 20,
      cache_write_tokens: 30,
      output_tokens: 40,
      video_seconds: 5.04,
      images: 2,
      cost: '0.700021',
    }
    const query = parseUsageQuery({ from: TODAY, group_by: 'operation,key,model,day' }, TODAY)
    expect(usageReport([usageCounter({}, sums)], query)).toEqual({
      object: 'list',
      from: TODAY,
      to: TODAY,
      group_by: ['operation', 'key', 'model', 'day'],
      data: [{ operation: 'create-chat-completion', key: 'key1', model: 'chat-default', day: TODAY, ...shown }],
      total: shown,
      has_more: false,
      next: null,
    })
  })

  it('is an empty page with a total of zero without usage', () => {
    expect(usageReport([], parseUsageQuery({}, TODAY))).toMatchObject({
      data: [],
      total: { requests: 0, video_seconds: 0, cost: '0' },
      has_more: false,
      next: null,
    })
  })

  it('pages over every group once, in one order, with the same total on every page', () => {
    const name = fc.constantFrom('a', 'b', 'B', 'vendor/x#1', 'ä')
    const counter = fc
      .record({ keyId: name, model: name, operation: name, cost: fc.bigInt(0n, 10n ** 12n) })
      .map(({ cost, ...dimensions }) => usageCounter(dimensions, { cost }))
    const groupBy = fc
      .shuffledSubarray(['day', 'model', 'key', 'operation'], { minLength: 1 })
      .map((dimensions) => dimensions.join())
    void fc.assert(
      fc.property(fc.array(counter, { maxLength: 40 }), groupBy, fc.integer({ min: 1, max: 7 }), expectSamePages),
    )
  })
})

const COUNTERS = [
  usageCounter({ day: '2026-11-02', keyId: 'key1', model: 'b' }, { requests: 1, cost: 1n }),
  usageCounter({ day: '2026-11-01', keyId: 'key2', model: 'b' }, { requests: 2, cost: 20n }),
  usageCounter({ day: '2026-11-01', keyId: 'key1', model: 'a' }, { requests: 4, cost: 300n }),
  usageCounter({ day: '2026-11-01', keyId: 'key1', model: 'b' }, { requests: 8, cost: 4_000n }),
]

function grouped(...groupBy: ConstructorParameters<typeof UsageGroups>[0]) {
  const groups = new UsageGroups(groupBy)
  for (const counter of COUNTERS) {
    groups.add(counter)
  }
  return groups
}

const shown = (groups: UsageGroups) => groups.sorted().map(({ values, sums }) => [...values, sums.requests])

describe('UsageGroups', () => {
  it('adds up counters with the same values, sorted by these values', () => {
    expect(shown(grouped('day'))).toEqual([
      ['2026-11-01', 14],
      ['2026-11-02', 1],
    ])
    expect(shown(grouped('model', 'key'))).toEqual([
      ['a', 'key1', 4],
      ['b', 'key1', 9],
      ['b', 'key2', 2],
    ])
  })

  it('keeps values apart that are equal when they are joined', () => {
    const groups = new UsageGroups(['model', 'key'])
    groups.add(usageCounter({ model: 'a","b', keyId: 'c' }))
    groups.add(usageCounter({ model: 'a', keyId: 'b","c' }))
    expect(groups.sorted()).toHaveLength(2)
  })

  it('has the same total for every grouping', () => {
    for (const groups of [grouped('day'), grouped('operation'), grouped('key', 'model', 'day', 'operation')]) {
      expect(groups.total).toEqual({ ...NO_USAGE, requests: 15, cost: 4_321n })
    }
  })

  it('has no group and a total of zero without counters', () => {
    const groups = new UsageGroups(['day'])
    expect([groups.sorted(), groups.total]).toEqual([[], NO_USAGE])
  })
})

describe('compareValues', () => {
  it('compares the first values that differ by code units', () => {
    expect(compareValues(['a', 'z'], ['b', 'a'])).toBeLessThan(0)
    expect(compareValues(['a', 'z'], ['a', 'a'])).toBeGreaterThan(0)
    expect(compareValues(['Z'], ['a'])).toBeLessThan(0)
    expect(compareValues(['a', 'b'], ['a', 'b'])).toBe(0)
  })
})
