import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Table } from '#store/table/table.ts'
import { readTenantName, readTenantState, tenantsNamed } from '#store/tenants/tenants.ts'
import { type Finding, fine, wrong } from '../findings.ts'

/** The tenant of a rule, or why it has none. */
export type RuleTenant =
  | { readonly id: string; readonly problem?: undefined }
  | { readonly id?: undefined; readonly problem: string }

/** Finds a tenant as functions do: by its id, or by a name that no other tenant has. */
export async function findRuleTenant(table: Table, idOrName: string): Promise<RuleTenant> {
  const withId = await readTenantName(table, idOrName)
  const [found, ...others] = withId === undefined ? await tenantsNamed(table, idOrName) : [withId]
  if (found === undefined) {
    return { problem: `the tenant ${idOrName} does not exist` }
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ')
    return { problem: `${others.length + 1} tenants have the name ${idOrName} (${ids})` }
  }
  return { id: found.id }
}

/** Names of rules with their tenants, and what a tenant that is missing or suspended means for those who meet the rule. */
function rulesOf({ identity, console: { oidc } }: Pick<GatewayConfig, 'identity' | 'console'>) {
  const ofIssuers = identity.issuers.flatMap(({ rules }) =>
    rules.map(({ name, tenant }) => ({
      rule: `identity rule ${name}`,
      tenant,
      missing: 'its callers get a 503',
      suspended: 'its callers get a 401',
    })),
  )
  const ofConsole = (oidc?.rules ?? []).flatMap(({ name, tenant }) =>
    tenant === undefined
      ? []
      : [{ rule: `console rule ${name}`, tenant, missing: 'it gives nobody a role', suspended: undefined }],
  )
  return [...ofIssuers, ...ofConsole]
}

/** A sentence for each rule of identity issuers and of the console whose tenant does not exist, is one of several, or is suspended. */
export async function ruleProblems(
  openTable: () => Promise<Table>,
  config: Pick<GatewayConfig, 'identity' | 'console'>,
): Promise<string[]> {
  const rules = rulesOf(config)
  if (rules.length === 0) {
    return []
  }
  const table = await openTable()
  const problems: string[] = []
  for (const { rule, tenant, missing, suspended } of rules) {
    const { id, problem } = await findRuleTenant(table, tenant)
    if (id === undefined) {
      problems.push(`${rule}: ${problem}, so ${missing}`)
    } else if (suspended !== undefined && (await readTenantState(table, id)) === 'suspended') {
      problems.push(`${rule}: the tenant ${tenant} is suspended, so ${suspended}`)
    }
  }
  return problems
}

/** Whether the tenants of all rules exist and may call. Without rules there is nothing to say. */
export async function checkRules(
  openTable: () => Promise<Table>,
  config: Pick<GatewayConfig, 'identity' | 'console'>,
): Promise<Finding[]> {
  const count = rulesOf(config).length
  const problems = await ruleProblems(openTable, config)
  const advice = 'Create or resume the tenant, or correct `tenant` of the rule and deploy again.'
  return problems.length > 0
    ? problems.map((problem) => wrong('rules', problem, advice))
    : count === 0
      ? []
      : [fine('rules', `the tenants of ${count} rules exist`)]
}
