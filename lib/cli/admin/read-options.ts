import { OVERLAP_MILLISECONDS } from '#core/admin/request-fields.ts'
import { InvalidAmountError, type Microcredits, parseCredits } from '#core/money.ts'
import { meant } from '#core/nearest-name.ts'
import { isPrintable, withoutSecrets } from '#core/redaction.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { listTenantNames, readTenantName, type Tenant } from '#store/tenants/tenants.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, CommandOption, CommandValues } from './command.ts'

/** The option that names a tenant. */
export const TENANT = {
  value: 'ID|NAME',
  summary: 'the tenant, by its id or by a name that no other tenant has',
  required: true,
  find: findTenantId,
} as const satisfies CommandOption & { readonly find: typeof findTenantId }

/** The id of a tenant that is named by its id or by its name. @throws as {@link findTenant}. */
export async function findTenantId(table: Table, idOrName: string): Promise<string> {
  return (await findTenant(table, idOrName)).id
}

/** The id of the tenant in the required `--tenant`. @throws StoreRefusal `not_found`, UsageError as {@link findTenant}. */
export async function readTenantId(context: Pick<AdminContext, 'table'>, values: CommandValues): Promise<string> {
  return await findTenantId(await context.table(), values.required('tenant'))
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
  const tenants = await listTenantNames(table)
  const [found, ...others] = tenants.filter(({ name }) => name === idOrName)
  if (found === undefined) {
    const words = tenants.flatMap(({ id, name }) => [name, id])
    throw new StoreRefusal('not_found', `no tenant ${idOrName}${meant(idOrName, words)}`)
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ')
    throw new UsageError(`--tenant ${idOrName}: ${others.length + 1} tenants have this name; use the id: ${ids}`)
  }
  return found
}

/** The name of `--name`. @throws UsageError for a name with control characters or a secret. */
export function readName(name: string): string {
  if (!isPrintable(name)) {
    throw new UsageError('--name contains a control character')
  }
  if (withoutSecrets(name) !== name) {
    throw new UsageError('--name contains a key, a secret or a digest: leave it out')
  }
  return name
}

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
}

/** A hundred years: anything longer is a mistake. */
const DURATION_MILLISECONDS_MAX = 36_525 * 24 * 60 * 60_000

const ISO_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

/** How long what is replaced goes on to work, in milliseconds. @throws UsageError. */
export function readOverlap(text: string): number {
  const milliseconds = durationOf(text)
  if (milliseconds === undefined) {
    throw new UsageError(`--overlap ${text}: use a duration such as 30m, 24h or 90d`)
  }
  return milliseconds
}

/** The option of a rotation. */
export const OVERLAP = {
  value: '24h',
  summary: `default: ${OVERLAP_MILLISECONDS / 3_600_000}h`,
  field: 'overlap_seconds',
  read: (text: string) => readOverlap(text) / 1000,
} as const

/**
 * A date (`2027-01-31`, the start of that day in UTC) or a time with its zone, in unix milliseconds.
 * @throws UsageError naming the option.
 */
export function readTime(option: string, text: string): number {
  const milliseconds = parseTime(text)
  if (milliseconds === undefined) {
    throw new UsageError(`--${option} ${text}: use a date such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z`)
  }
  return milliseconds
}

/** Options of a period of the ledger. */
export const PERIOD = {
  from: { value: 'DATE', summary: 'rows at or after this, such as 2026-11-01 (UTC) or 2026-11-01T00:00:00Z' },
  to: { value: 'DATE', summary: 'rows before this: 2026-12-01 ends November' },
} as const satisfies Readonly<Record<string, CommandOption>>

/** The period of {@link PERIOD}, in unix milliseconds. @throws UsageError also for one that holds nothing. */
export function readPeriod(values: CommandValues): { readonly from?: number; readonly to?: number } {
  const [from, to] = [values.text('from'), values.text('to')]
  const period = {
    ...(from === undefined ? {} : { from: readTime('from', from) }),
    ...(to === undefined ? {} : { to: readTime('to', to) }),
  }
  if (period.from !== undefined && period.to !== undefined && period.from >= period.to) {
    throw new UsageError(
      `--to ${to}: use a time after --from ${from}; rows before it count, so a day ends with the next one`,
    )
  }
  return period
}

/** A time in the future, from a duration, a date or a time, in unix milliseconds. @throws UsageError. */
export function readEnd(option: string, text: string, nowMilliseconds: number): number {
  const duration = durationOf(text)
  const end = duration === undefined ? parseTime(text) : nowMilliseconds + duration
  if (end === undefined) {
    throw new UsageError(`--${option} ${text}: use a duration such as 90d, or a date such as 2027-01-31`)
  }
  if (end <= nowMilliseconds) {
    throw new UsageError(`--${option} ${text}: use a time in the future`)
  }
  return end
}

/** A time in the past, from a duration before now, a date or a time, in unix milliseconds. @throws UsageError. */
export function readStart(option: string, text: string, nowMilliseconds: number): number {
  const duration = durationOf(text)
  const start = duration === undefined ? parseTime(text) : nowMilliseconds - duration
  if (start === undefined) {
    throw new UsageError(`--${option} ${text}: use a duration such as 24h or 7d, or a date such as 2026-11-01`)
  }
  return Math.max(0, start)
}

function durationOf(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const milliseconds = Number(count) * (UNIT_MILLISECONDS[unit] ?? Number.NaN)
  return milliseconds <= DURATION_MILLISECONDS_MAX ? milliseconds : undefined
}

function parseTime(text: string): number | undefined {
  const milliseconds = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  // A day that the month does not have would roll over into the next month.
  const isReal =
    !Number.isNaN(milliseconds) &&
    new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10))
  return isReal ? milliseconds : undefined
}

/** The amount in the value of an option. @throws UsageError that names the option if it is not an amount. */
export function readAmount(option: string, text: string, parse = parseCredits): Microcredits {
  try {
    return parse(text)
  } catch (error) {
    const unit = /[^\d.,+-]/.test(text) ? '; the unit is the credit, so write no currency' : ''
    throw error instanceof InvalidAmountError ? new UsageError(`--${option} ${error.message}${unit}`) : error
  }
}
