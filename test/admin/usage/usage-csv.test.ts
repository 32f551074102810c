import { describe, expect, it } from 'vitest'
import { USAGE_CSV_COLUMNS, usageCsvHeader, usageCsvLine } from '../../../lib/cli/admin/usage.ts'
import { usageRow } from './usage-rows.ts'

describe('the CSV of usage', () => {
  it('has a cell for each column, empty where usage is not grouped by it', () => {
    const sums = { requests: 2, inputTokens: 3, cachedInputTokens: 4, cacheWriteTokens: 5, outputTokens: 6, images: 7 }
    const row = usageRow('m,1', { ...sums, videoMilliseconds: 5_040, cost: 21n })
    expect(usageCsvLine(row)).toBe('acme,acme,,"m,1",,,,2,3,4,5,6,5.04,7,0.000021\r\n')
    expect(usageCsvHeader()).toBe(`${USAGE_CSV_COLUMNS.replaceAll(' ', '')}\r\n`)
    expect(usageCsvHeader().split(',')).toHaveLength(15)
  })

  it('keeps a spreadsheet from running a model as a formula', () => {
    expect(usageCsvLine(usageRow('=1+1', {}))).toContain(",'=1+1,")
  })
})
