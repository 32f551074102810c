import { formatCredits } from '#core/money.ts'
import { csvLine } from '../ledger/csv.ts'
import type { UsageRow } from './usage-row.ts'

/** The order never changes; new columns come last. */
const COLUMNS = [
  'tenant',
  'tenant_name',
  'day',
  'model',
  'key',
  'key_name',
  'operation',
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'video_seconds',
  'images',
  'cost',
] as const

/** The names of the columns, for the help. */
export const USAGE_CSV_COLUMNS = COLUMNS.join(', ')

/** The first line of an export. */
export function usageCsvHeader(): string {
  return csvLine(COLUMNS)
}

/** One line of an export. Columns that usage is not grouped by are empty. */
export function usageCsvLine({ tenant, tenantName, dimensions, keyName = '', sums }: UsageRow): string {
  const { day = '', model = '', key = '', operation = '' } = dimensions
  return csvLine([
    tenant,
    tenantName,
    day,
    model,
    key,
    keyName,
    operation,
    String(sums.requests),
    String(sums.inputTokens),
    String(sums.cachedInputTokens),
    String(sums.cacheWriteTokens),
    String(sums.outputTokens),
    String(sums.videoMilliseconds / 1_000),
    String(sums.images),
    formatCredits(sums.cost),
  ])
}
