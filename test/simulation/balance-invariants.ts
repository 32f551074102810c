import { DEBT } from './budget-operators.ts'
import { rule, sum } from './rule.ts'
import { amount, type Balance, type Snapshot } from './snapshot.ts'
import type { Item } from './table-mirror.ts'

/** The rules of a tenant's money: its parts are sums of rows and of what is open. */
export function checkBalance(tenant: string, balance: Balance, now: Snapshot): string[] {
  const own = [...now.reservations.values()].filter(({ tenantId }) => tenantId === tenant)
  const rows = now.rows.filter(({ tenantId }) => tenantId === tenant).map(({ item }) => item)
  const of = (kind: string, member: string) =>
    sum(rows.filter((row) => row.kind === kind).map((row) => amount(row[member])))
  const overdraft = sum(rows.map((row) => overdraftOf(row)))
  const { available, held, spent, granted, openJobs, openJobsMax } = balance
  const open = own.filter(({ state }) => state === 'held')
  const heldOfRequests = now.holds.filter(({ tenantId }) => tenantId === tenant)
  return [
    ...rule(available + held + spent === granted, `${tenant}: the parts are not what was granted`),
    ...rule(
      granted === of('grant', 'amount') + of('adjust', 'amount'),
      `${tenant}: granted is not the sum of the grants and corrections`,
    ),
    ...rule(
      held === sum([...open, ...heldOfRequests].map((each) => each.amount)),
      `${tenant}: held is not the sum of the open reservations`,
    ),
    ...rule(spent === of('settle', 'actual'), `${tenant}: spent is not the sum of the settlements`),
    ...own.flatMap((reservation) => checkRows(reservation, rows)),
    ...rule(held >= 0n, `${tenant}: held is negative`),
    ...rule(available >= -overdraft - sum(rows.map(debtOf)), `${tenant}: more was reserved than there was`),
    ...rule(openJobs === open.length, `${tenant}: counts ${openJobs} open jobs and has ${open.length}`),
    ...rule(openJobs <= openJobsMax, `${tenant}: was given more than ${openJobsMax} open jobs`),
  ]
}

/** What was billed beyond its reservation (docs/decisions/0029). */
function overdraftOf(row: Item): bigint {
  const beyond = row.kind === 'settle' ? amount(row.actual) - amount(row.amount) : 0n
  return beyond > 0n ? beyond : 0n
}

/** What was taken back whether it was there or not. */
function debtOf({ kind, SK, amount: taken }: Item): bigint {
  return kind === 'adjust' && String(SK).includes(DEBT) && amount(taken) < 0n ? -amount(taken) : 0n
}

const ROW_OF_STATE = { held: undefined, settled: 'settle', released: 'release' } as const

/** One row for the reservation, and one under the one key of its resolution once it has one. */
function checkRows(
  { jobId, state }: { jobId: string; state: keyof typeof ROW_OF_STATE },
  rows: readonly Item[],
): string[] {
  const kindAt = (sortKey: string) => rows.find((row) => row.SK === sortKey)?.kind
  const own = rows.filter((row) => row.job === jobId)
  const expected = ['reserve', ROW_OF_STATE[state]].filter((kind) => kind !== undefined)
  return rule(
    own.length === expected.length &&
      kindAt(`${jobId}#1`) === 'reserve' &&
      kindAt(`${jobId}#2`) === ROW_OF_STATE[state],
    `the ledger does not say of ${jobId} that it is ${state}`,
  )
}
