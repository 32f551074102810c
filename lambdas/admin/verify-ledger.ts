import { InvalidRequestError } from '#core/errors.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { type Reservation, readReservationItem } from '#store/job-ledger/reservation.ts'
import { type ApiKeyListing, listApiKeys } from '#store/keys/api-keys.ts'
import { readHoldItem, type StoredHold } from '#store/relay-ledger/hold.ts'
import { isRefusal } from '#store/store-refusal.ts'
import { queryPartition, type Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { getTenant, listTenantIds, type Tenant } from '#store/tenants/tenants.ts'
import {
  type BilledJob,
  checkCounters,
  checkHolds,
  checkJob,
  checkKeyBudgets,
  checkRequests,
  checkRow,
  checkRowsAlone,
  checkTenantBudget,
  readBilledJob,
} from './ledger-invariants.ts'
import { type LedgerRow, readLedgerRows } from './read-ledger.ts'

/** A broken invariant in words. */
export type BrokenInvariant = { readonly tenant: string; readonly message: string }

/** Reads of a tenant before a broken invariant counts, because jobs change while they are read. */
const READS_MAX = 3

/**
 * Checks every invariant of every tenant's money; empty if all hold. Tenants that appear only in keys are checked too.
 * @param only checks this tenant alone.
 */
export async function verifyLedger(table: Table, only?: string): Promise<BrokenInvariant[]> {
  const broken: BrokenInvariant[] = []
  const keys = await listApiKeys(table)
  const keyed = keys.map(({ tenantId }) => tenantId)
  const tenants = only === undefined ? new Set([...(await listTenantIds(table)), ...keyed]) : [only]
  for (const tenant of tenants) {
    broken.push(...(await verifyTenant(table, tenant, keys)).map((message) => ({ tenant, message })))
  }
  return broken
}

/**
 * A finding counts if every one of several reads shows it, because no read is a snapshot.
 * @param keys those of all tenants, which only the first read takes as they are: keys may change while tenants are checked.
 */
async function verifyTenant(table: Table, tenantId: string, keys: readonly ApiKeyListing[]): Promise<string[]> {
  let persistent: string[] | undefined
  for (let read = 0; read < READS_MAX; read += 1) {
    const found = await checkTenant(table, tenantId, read === 0 ? keys : await listApiKeys(table))
    persistent = persistent === undefined ? found : persistent.filter((message) => found.includes(message))
    if (persistent.length === 0) {
      return []
    }
  }
  return persistent ?? []
}

async function checkTenant(table: Table, tenantId: string, keys: readonly ApiKeyListing[]): Promise<string[]> {
  const tenant = await findTenant(table, tenantId)
  const { jobs, reservations, holds } = await readJobs(table, tenantId)
  const malformed: string[] = []
  const rows = await readLedgerRows(table, tenantId, (sortKey) => malformed.push(sortKey))
  const rowsByJob = Map.groupBy(
    rows.filter(({ isOfRequest }) => !isOfRequest),
    ({ job }) => job,
  )
  const held = [...reservations.values()].filter(({ state }) => state === 'held')
  return [
    ...(tenant === undefined
      ? ['its record or its balance is missing']
      : [
          ...checkBalance(tenant.balance, [...held, ...holds], rows),
          ...checkOpenJobs(tenant.openJobs, held),
          ...(await checkTenantBudget(table, tenant)),
        ]),
    ...malformed.map((sortKey) => `the row ${sortKey} of its ledger is malformed`),
    ...rows.filter(isKind('grant')).flatMap((row) => checkRow('a grant', row)),
    ...rows.filter(isKind('adjust')).flatMap((row) => checkRow('an adjustment', row)),
    ...checkHolds(holds),
    ...checkRequests(holds, rows),
    ...(await checkCounters(table, tenantId)),
    ...(await checkKeyBudgets(table, tenantId, {
      reservations: held,
      holds,
      named: namedBudgets(keys, tenantId),
    })),
    ...[...jobs.values()].flatMap((job) => checkJob(job, reservations.get(job.jobId), rowsByJob.get(job.jobId) ?? [])),
    ...[...reservations.keys()].filter((jobId) => !jobs.has(jobId)).map((jobId) => `reservation ${jobId} has no job`),
    ...[...rowsByJob].flatMap(([jobId, rowsOfJob]) =>
      jobId === null || jobs.has(jobId) ? [] : checkRowsAlone(jobId, rowsOfJob),
    ),
  ]
}

/** Ids of the tenant's keys by the budgets that they name, revoked ones last, because they cannot be set. */
function namedBudgets(keys: readonly ApiKeyListing[], tenantId: string): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>()
  for (const { keyId, budget, tenantId: owner } of keys.toSorted((a, b) => rank(a) - rank(b))) {
    if (owner === tenantId && budget !== null) {
      named.set(budget.id, (named.get(budget.id) ?? new Set()).add(keyId))
    }
  }
  return named
}

function rank({ state, keyId, budget }: ApiKeyListing): number {
  return (state === 'revoked' ? 2 : 0) + (keyId === budget?.id ? 0 : 1)
}

/** A tenant without a balance is a finding; the other checks go on. */
async function findTenant(table: Table, tenantId: string): Promise<Tenant | undefined> {
  try {
    return await getTenant(table, tenantId)
  } catch (error) {
    if (isRefusal(error, 'not_found')) {
      return undefined
    }
    throw error
  }
}

function checkBalance(
  balance: Tenant['balance'],
  open: readonly { readonly amount: Microcredits }[],
  rows: readonly LedgerRow[],
): string[] {
  const held = sum(open.map(({ amount }) => amount))
  const granted = sum(rows.filter(({ kind }) => kind === 'grant' || kind === 'adjust').map(({ amount }) => amount))
  const settled = sum(rows.filter(isKind('settle')).map(({ actual }) => actual ?? 0n))
  const parts = balance.available + balance.held + balance.spent
  return [
    ...equal('available + held + spent', parts, 'granted', balance.granted),
    ...equal('granted', balance.granted, 'the sum of grants and adjustments', granted),
    ...equal('held', balance.held, 'the sum of open reservations', held),
    ...equal('spent', balance.spent, 'the sum of settlements', settled),
  ]
}

function checkOpenJobs({ count }: Tenant['openJobs'], held: readonly Reservation[]): string[] {
  return count === held.length ? [] : [`it counts ${count} open jobs and has ${held.length}`]
}

async function readJobs(table: Table, tenantId: string) {
  const jobs = new Map<string, BilledJob>()
  const reservations = new Map<string, Reservation>()
  const holds: StoredHold[] = []
  for await (const item of queryPartition(table, tableKeys.job(tenantId, '').PK)) {
    if (isCollectable(item)) {
      continue
    }
    const [kind, jobId = ''] = String(item.SK).split('#')
    if (kind === 'JOB') {
      jobs.set(jobId, readBilledJob(item))
    } else if (kind === 'RESERVATION') {
      reservations.set(jobId, readReservationItem(item))
    } else if (kind === 'PROC') {
      holds.push(readHoldItem(item))
    }
  }
  return { jobs, reservations, holds }
}

/** The table deletes the two records of an old, resolved job at different times: a single one is no finding. */
function isCollectable({ ttl }: Record<string, unknown>): boolean {
  return typeof ttl === 'number' && ttl <= Date.now() / 1000
}

function isKind(kind: LedgerRow['kind']): (row: LedgerRow) => boolean {
  return (row) => row.kind === kind
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

function equal(leftName: string, left: bigint, rightName: string, right: bigint): string[] {
  const show = (amount: bigint) => formatCredits(amount as Microcredits)
  return left === right ? [] : [`${leftName} is ${show(left)} and ${rightName} is ${show(right)}`]
}

/** Pages of one megabyte. A read of all takes some ten seconds; a verification with findings reads a tenant three times. */
const PAGES_MAX = 60

/** Whoever may only read may verify. */
const refuseWrite = () => Promise.reject(new TypeError('a verification writes nothing'))

/**
 * The same by reads alone.
 * @throws InvalidRequestError for a tenant that is too large, if the number of reads is bounded.
 */
export async function verifyByReading(
  table: Pick<Table, 'readItem' | 'readItems' | 'queryPage'>,
  only?: string,
  { isBounded = false } = {},
): Promise<BrokenInvariant[]> {
  let pages = 0
  const readable: Table = {
    ...table,
    updateItem: refuseWrite,
    transact: refuseWrite,
    queryPage: async (query, startKey) => {
      pages += 1
      if (isBounded && pages > PAGES_MAX) {
        const message = `the tenant is too large to be verified here: npm run admin -- ledger verify --tenant ${only}`
        throw new InvalidRequestError([{ path: 'tenant', message }])
      }
      return await table.queryPage(query, startKey)
    },
  }
  return await verifyLedger(readable, only)
}
