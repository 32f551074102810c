import { checkHolds, checkJob, readBilledJob } from '#lambdas/admin/ledger-invariants.ts'
import { readLedgerItem } from '#lambdas/admin/read-ledger.ts'
import { readReservationItem } from '#store/job-ledger/reservation.ts'
import { readHoldItem } from '#store/relay-ledger/hold.ts'
import { type Item, queryPartition, type Table } from '#store/table/table.ts'
import { getTenant } from '#store/tenants/tenants.ts'

/** Every item of one partition. */
export async function readPartition(table: Table, partition: string): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of queryPartition(table, partition)) {
    items.push(item)
  }
  return items
}

/** Every broken invariant of a tenant's money, in words; empty when its books are in order. */
export async function auditTenant(table: Table, tenantId: string): Promise<string[]> {
  const { balance, openJobs } = await getTenant(table, tenantId)
  const rows = await readPartition(table, `L#${tenantId}`)
  const own = await readPartition(table, `T#${tenantId}`)
  const reservations = own
    .filter(({ SK }) => String(SK).startsWith('RESERVATION#'))
    .map((item) => ({ jobId: String(item.SK).slice('RESERVATION#'.length), ...readReservationItem(item) }))
  const jobs = new Map(
    own
      .filter(({ SK }) => String(SK).startsWith('JOB#'))
      .map((item) => [String(item.SK).slice('JOB#'.length), readBilledJob(item)]),
  )
  const sum = (kind: string, member: string) =>
    rows.filter((row) => row.kind === kind).reduce((total, row) => total + BigInt(Number(row[member] ?? 0)), 0n)
  const holds = own.filter(({ SK }) => String(SK).startsWith('PROC#')).map(readHoldItem)
  const open = holds.flatMap((hold) => hold.open.map(({ id }) => id))
  const held = [...reservations.filter(({ state }) => state === 'held'), ...holds].reduce(
    (total, { amount }) => total + amount,
    0n,
  )
  const statuses = { held: ['queued', 'processing'], settled: ['succeeded'], released: ['failed'] }
  return [
    check(
      balance.available + balance.held + balance.spent === balance.granted,
      'I1: the parts are not what was granted',
    ),
    check(
      balance.granted === sum('grant', 'amount') + sum('adjust', 'amount'),
      'I1: granted is not the sum of the grants and adjustments',
    ),
    check(balance.held === held, 'I2: held is not the sum of the open reservations'),
    check(balance.spent === sum('settle', 'actual'), 'I3: spent is not the sum of the settlements'),
    check(
      openJobs.count === reservations.filter(({ state }) => state === 'held').length,
      'the count of open jobs is not that of the open reservations',
    ),
    ...reservations.map(({ jobId, state }) =>
      check(
        statuses[state].includes(jobs.get(jobId)?.status ?? '') ||
          (state === 'settled' && jobs.get(jobId)?.cancelledAt !== undefined),
        `I4: job ${jobId} does not match its ${state} reservation`,
      ),
    ),
    ...[...jobs].flatMap(([jobId, job]) =>
      checkJob(
        job,
        reservations.find((reservation) => reservation.jobId === jobId),
        rows.filter((row) => row.job === jobId).flatMap(readLedgerItem),
      ),
    ),
    check(jobs.size === reservations.length, 'I4: a job without a reservation'),
    ...checkHolds(holds),
    ...open.map((requestId) =>
      check(!rows.some(({ job }) => job === requestId), `I4: request ${requestId} is open and resolved`),
    ),
  ].flat()
}

function check(holds: boolean, sentence: string): string[] {
  return holds ? [] : [sentence]
}
