import { listTenantNames, readTenantName, type Tenant } from '#adapters/store/accounts/tenant-store.ts'
import { StoreRefusal } from '#adapters/store/store-refusal.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { AdminContext, CommandOption } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'

/** The option that names a tenant. */
export const TENANT = {
  value: 'ID|NAME',
  summary: 'the tenant, by its id or by a name that no other tenant has',
  required: true,
} as const satisfies CommandOption

/** The id of the tenant in the required `--tenant`. @throws StoreRefusal `not_found`, UsageError as {@link findTenant}. */
export async function readTenantId(context: Pick<AdminContext, 'table'>, values: CommandValues): Promise<string> {
  return (await findTenant(await context.table(), values.required('tenant'))).id
}

/** The same for an option that may be left out. */
export async function readTenantIdIfGiven(
  context: Pick<AdminContext, 'table'>,
  values: CommandValues,
): Promise<string | undefined> {
  return values.text('tenant') === undefined ? undefined : await readTenantId(context, values)
}

/**
 * A tenant by its id, with one read, or by its name, with a query of all tenants. An id counts before a name.
 * @throws StoreRefusal `not_found`; UsageError for a name of several tenants, with their ids.
 */
export async function findTenant(table: Table, idOrName: string): Promise<Pick<Tenant, 'id' | 'name'>> {
  const withId = await readTenantName(table, idOrName)
  if (withId !== undefined) {
    return withId
  }
  const [found, ...others] = (await listTenantNames(table)).filter(({ name }) => name === idOrName)
  if (found === undefined) {
    throw new StoreRefusal('not_found', `no tenant ${idOrName}`)
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ')
    throw new UsageError(`--tenant ${idOrName}: ${others.length + 1} tenants have this name; use the id: ${ids}`)
  }
  return found
}
