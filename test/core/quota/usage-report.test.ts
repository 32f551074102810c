import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseUsageQuery } from '#core/parameters/usage-query.ts'
import type { UsageCounter } from '#core/quota/usage-counter.ts'
import { usageReport } from '#core/quota/usage-report.ts'
import { usageCounter } from './usage-counters.ts'

const TODAY = '2026-11-22'

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
