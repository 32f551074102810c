import type { UsageRow } from '../../../lib/cli/admin/usage.ts'
import { usageCounter } from '../../core/pricing/usage-counters.ts'

type Sums = Parameters<typeof usageCounter>[1]

/** A line of the usage of the tenant `acme`, by model. */
export function usageRow(model: string, sums: Sums, changes: Partial<UsageRow> = {}): UsageRow {
  const { day: _, keyId: __, operation: ___, model: ____, ...rest } = usageCounter({}, sums)
  return { tenant: 'acme', tenantName: 'acme', dimensions: { model }, keyName: undefined, sums: rest, ...changes }
}
