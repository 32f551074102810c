import type { UsageDimension, UsageGroup } from '#core/api/usage.ts'
import type { UsageSums } from '#core/pricing/usage.ts'
import type { TenantUsage } from './read-usage.ts'

/** One line of the usage of tenants. A dimension that usage is not grouped by is undefined. */
export type UsageRow = {
  readonly tenant: string
  readonly tenantName: string
  readonly dimensions: Readonly<Partial<Record<UsageDimension, string>>>
  /** The operator's name for the key; undefined for a key without one. */
  readonly keyName: string | undefined
  readonly sums: UsageSums
}

/** The lines of one tenant, in the order of its groups. @param keyNames by the public ids of keys. */
export function usageRows(
  { tenant, groups }: TenantUsage,
  by: readonly UsageDimension[],
  keyNames: ReadonlyMap<string, string>,
): UsageRow[] {
  return groups.map(({ values, sums }: UsageGroup) => {
    const dimensions = Object.fromEntries(by.map((dimension, index) => [dimension, values[index]]))
    const keyName = keyNames.get(dimensions.key ?? '')
    return { tenant: tenant.id, tenantName: tenant.name, dimensions, keyName, sums }
  })
}
