/** A dimension by which usage is summed. */
export type UsageGroup = readonly [value: string, title: string]

const GROUPS: readonly UsageGroup[] = [
  ['model', 'Model'],
  ['key', 'Key'],
  ['operation', 'Operation'],
]

/** Dimensions of the usage of one tenant; that of all tenants can also be summed by tenant. */
export function usageGroups(tenant: string | undefined): readonly UsageGroup[] {
  return tenant === undefined ? [...GROUPS, ['tenant', 'Tenant']] : GROUPS
}

/** The dimension that a url asks for; the first one for a dimension that this usage does not have. */
export function usageGroup(asked: string | undefined, tenant: string | undefined): string {
  const groups = usageGroups(tenant).map(([value]) => value)
  return groups.find((value) => value === asked) ?? 'model'
}
