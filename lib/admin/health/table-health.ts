import { listTenants } from '#adapters/store/accounts/tenant-store.ts'
import { dueHolds, dueReservations, type JobKey, openReservations, readHolds } from '#adapters/store/money/due-index.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** Reconcile runs every minute: an item that has been due for longer was missed. */
const LATE_MILLISECONDS = 5 * 60_000

/** Reconcile ends a job after 14 hours, whatever its execution does; this is an hour later. */
const OPEN_MILLISECONDS_MAX = 15 * 60 * 60_000

/** Open reservations are counted up to this number. */
const COUNTED_MAX = 10_000

/** Whether the table answers, and each balance adds up: the part of `ledger verify` that reads two items per tenant. */
export async function checkBalances(table: Table): Promise<Finding[]> {
  const tenants = await listTenants(table)
  const broken = tenants.filter(
    ({ balance, openJobs }) =>
      balance.available + balance.held + balance.spent !== balance.granted || balance.held < 0n || openJobs.count < 0,
  )
  return broken.length === 0
    ? [fine('table', `answers; ${balancesText(tenants.length)} up`)]
    : broken.map(({ id }) =>
        wrong('table', `the balance of tenant ${id} does not add up`, `Run \`ledger verify --tenant ${id}\`.`),
      )
}

/** Whether Reconcile handles open reservations, and none is older than a job can be. */
export async function checkReservations(table: Table, nowMilliseconds: number): Promise<Finding[]> {
  let open = 0
  let oldest: JobKey | undefined
  for await (const item of openReservations(table)) {
    open += 1
    oldest = 'jobId' in item ? olderJob(item, oldest) : oldest
    if (open >= COUNTED_MAX) {
      break
    }
  }
  for await (const { requests } of readHolds(table)) {
    open += requests
  }
  const late = await countLate(table, nowMilliseconds - LATE_MILLISECONDS)
  const age = oldest === undefined ? 0 : nowMilliseconds - jobIdMilliseconds(oldest.jobId)
  // Open reservations without a job belong to relayed requests.
  const ofJobs =
    oldest === undefined
      ? ', none of a video job'
      : `, the oldest job ${ageText(age)} old: job ${oldest.jobId} of tenant ${oldest.tenantId}`
  const standing = open === 0 ? 'none is open' : `${countText(open)} open${ofJobs}`
  const findings = [fine('reservations', standing)]
  if (late > 0) {
    const advice = 'Reconcile does not run, or fails: see its log lines `reconcile failed` and its errors.'
    findings.push(
      wrong(
        'reservations',
        `${countText(late)} ${late === 1 ? 'has' : 'have'} been due for more than 5 minutes`,
        advice,
      ),
    )
  }
  if (oldest !== undefined && age > OPEN_MILLISECONDS_MAX) {
    const advice = `Reconcile should have ended it: see \`job timeline --job ${oldest.jobId}\`, then \`job cancel\` it; \`job list --open\` shows others.`
    findings.push(
      wrong(
        'reservations',
        `job ${oldest.jobId} of tenant ${oldest.tenantId} has been open for ${ageText(age)}`,
        advice,
      ),
    )
  }
  return findings
}

async function countLate(table: Table, dueBefore: number): Promise<number> {
  let late = 0
  for (const due of [dueReservations(table, dueBefore), dueHolds(table, dueBefore)]) {
    for await (const _ of due) {
      late += 1
      if (late >= COUNTED_MAX) {
        break
      }
    }
  }
  return late
}

function olderJob(job: JobKey, other: JobKey | undefined): JobKey {
  return other === undefined || jobIdMilliseconds(job.jobId) < jobIdMilliseconds(other.jobId) ? job : other
}

function balancesText(tenants: number): string {
  return tenants === 1 ? 'the balance of 1 tenant adds' : `the balances of ${tenants} tenants add`
}

function countText(count: number): string {
  return count >= COUNTED_MAX ? `${count} or more` : String(count)
}

function ageText(milliseconds: number): string {
  const minutes = Math.trunc(milliseconds / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.trunc(minutes / 60)} h`
}
