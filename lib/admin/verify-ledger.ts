import { queryPartition } from '#adapters/stores/query-items.ts'
import { type Reservation, readReservationItem } from '#adapters/stores/reservation.ts'
import type { Table } from '#adapters/stores/table.ts'
import { tableKeys } from '#adapters/stores/table-keys.ts'
import { getTenant, listTenantIds } from '#adapters/stores/tenant-store.ts'
import { readVideoJobItem } from '#adapters/stores/video-job-item.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits, type Microcredits } from '#core/quota/money.ts'
import { type LedgerRow, readLedgerRows } from './read-ledger.ts'

/** An invariant that does not hold, in words. */
export type BrokenInvariant = { readonly tenant: string; readonly message: string }

/** Reads of a tenant before a broken invariant is believed: jobs move while they are read. */
const READS_MAX = 3

/** Checks every invariant of every tenant's money; empty when all hold. */
export async function verifyLedger(table: Table): Promise<BrokenInvariant[]> {
  const broken: BrokenInvariant[] = []
  for (const tenant of await listTenantIds(table)) {
    broken.push(...(await verifyTenant(table, tenant)).map((message) => ({ tenant, message })))
  }
  return broken
}

/** A finding counts when every one of several reads shows it: no read is a snapshot of a moving table. */
async function verifyTenant(table: Table, tenantId: string): Promise<string[]> {
  let persistent: string[] | undefined
  for (let read = 0; read < READS_MAX; read += 1) {
    const found = await checkTenant(table, tenantId)
    persistent = persistent === undefined ? found : persistent.filter((message) => found.includes(message))
    if (persistent.length === 0) {
      return []
    }
  }
  return persistent ?? []
}

async function checkTenant(table: Table, tenantId: string): Promise<string[]> {
  const { balance } = await getTenant(table, tenantId)
  const { jobs, reservations } = await readJobs(table, tenantId)
  const rows = await readLedgerRows(table, tenantId)
  const rowsByJob = Map.groupBy(rows, ({ job }) => job)
  const held = sum([...reservations.values()].filter(({ state }) => state === 'held').map(({ amount }) => amount))
  return [
    ...equal('available + held + spent', balance.available + balance.held + balance.spent, 'granted', balance.granted),
    ...equal(
      'granted',
      balance.granted,
      'the sum of grants',
      sum(rows.filter(isKind('grant')).map(({ amount }) => amount)),
    ),
    ...equal('held', balance.held, 'the sum of open reservations', held),
    ...equal(
      'spent',
      balance.spent,
      'the sum of settlements',
      sum(rows.filter(isKind('settle')).map((row) => row.actual ?? 0n)),
    ),
    ...[...jobs.values()].flatMap((job) => checkJob(job, reservations.get(job.jobId), rowsByJob.get(job.jobId) ?? [])),
    ...[...reservations.keys()].filter((jobId) => !jobs.has(jobId)).map((jobId) => `reservation ${jobId} has no job`),
  ]
}

async function readJobs(table: Table, tenantId: string) {
  const jobs = new Map<string, VideoJob>()
  const reservations = new Map<string, Reservation>()
  for await (const item of queryPartition(table, tableKeys.job(tenantId, '').PK)) {
    if (isCollectable(item)) {
      continue
    }
    const [kind, jobId = ''] = String(item.SK).split('#')
    if (kind === 'JOB') {
      jobs.set(jobId, readVideoJobItem(item))
    } else if (kind === 'HOLD') {
      reservations.set(jobId, readReservationItem(item))
    }
  }
  return { jobs, reservations }
}

/** The table removes the two records of an old, resolved job at different times: neither is missed. */
function isCollectable({ ttl }: Record<string, unknown>): boolean {
  return typeof ttl === 'number' && ttl <= Date.now() / 1000
}

const RESOLVED_AS = { queued: 'held', processing: 'held', succeeded: 'settled', failed: 'released' } as const
const ROW_OF_STATE = { settled: 'settle', released: 'release' } as const

/** A job is ended exactly when its reservation is resolved, and the ledger says the same. */
function checkJob(job: VideoJob, reservation: Reservation | undefined, rows: readonly LedgerRow[]): string[] {
  const name = `job ${job.jobId}`
  if (reservation === undefined) {
    return [`${name} has no reservation`]
  }
  const expected = RESOLVED_AS[job.status]
  const resolutions = rows.filter((row) => row.kind !== 'reserve').map((row) => row.kind)
  const expectedRows = reservation.state === 'held' ? [] : [ROW_OF_STATE[reservation.state]]
  return [
    ...(reservation.state === expected ? [] : [`${name} is ${job.status} and its reservation is ${reservation.state}`]),
    ...(rows.some(isKind('reserve')) ? [] : [`${name} has no reserve row in the ledger`]),
    ...(resolutions.join() === expectedRows.join()
      ? []
      : [`${name} has the resolution rows [${resolutions}] and its reservation is ${reservation.state}`]),
  ]
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
