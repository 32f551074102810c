import { listTenantNames, type Tenant, TenantNotFoundError } from '#adapters/store/accounts/tenant-store.ts'
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

/** The id of the tenant in the required `--tenant`. @throws TenantNotFoundError, UsageError as {@link findTenant}. */
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
 * A tenant by its id or its name, by one query of all tenants. An id counts before a name.
 * @throws TenantNotFoundError; UsageError for a name of several tenants, with their ids.
 */
export async function findTenant(table: Table, idOrName: string): Promise<Pick<Tenant, 'id' | 'name'>> {
  const tenants = await listTenantNames(table)
  const named = tenants.filter(({ name }) => name === idOrName)
  const found = tenants.find(({ id }) => id === idOrName) ?? named[0]
  if (found === undefined) {
    throw new TenantNotFoundError(`no tenant ${idOrName}`)
  }
  if (found.id !== idOrName && named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ')
    throw new UsageError(`--tenant ${idOrName}: ${named.length} tenants have this name; use the id: ${ids}`)
  }
  return found
}
