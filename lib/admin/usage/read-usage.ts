import { streamUsageCounters } from '#adapters/store/money/usage-counters.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { type UsageDimension, type UsageGroup, UsageGroups } from '#core/api/usage.ts'
import type { UsageSums } from '#core/pricing/usage.ts'

/** Days in UTC, `yyyy-mm-dd`, both included, and what usage is grouped by. */
export type UsageWish = { readonly from: string; readonly to: string; readonly by: readonly UsageDimension[] }

/** The usage of one tenant. */
export type TenantUsage = {
  readonly tenant: { readonly id: string; readonly name: string }
  readonly groups: readonly UsageGroup[]
  readonly total: UsageSums
}

/** The usage of tenants, one after the other: one range query for each. Tenants without usage are left out. */
export async function* readUsage(
  table: Table,
  tenants: readonly TenantUsage['tenant'][],
  { by, ...range }: UsageWish,
): AsyncGenerator<TenantUsage> {
  for (const tenant of tenants) {
    const groups = new UsageGroups(by)
    for await (const counter of streamUsageCounters(table, tenant.id, range)) {
      groups.add(counter)
    }
    if (groups.total.requests > 0) {
      yield { tenant, groups: groups.sorted(), total: groups.total }
    }
  }
}
