import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { SWITCHES_MILLISECONDS_MAX } from '#store/current-catalogue.ts'
import type { Reservation } from '#store/job-ledger/reservation.ts'
import { checkAlerts, checkBudgets } from './budget-invariants.ts'
import { DEBT } from './operators.ts'
import type { RelayedRequest } from './relay-clients.ts'
import { checkRequests } from './request-invariants.ts'
import type { Claim } from './simulated-table.ts'
import { amount, type Balance, type Item, readSnapshot, repeated, rule, type Snapshot, sum } from './snapshot.ts'

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

/** Names of the sums of a counter that rows have as their usage. */
const USAGE = [
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'videoMilliseconds',
  'images',
] as const

/** The counters are the sums of the rows with the mark, and every settlement that cost something has the mark. */
export function checkUsage(now: Snapshot): string[] {
  const settled = now.rows.filter(({ item }) => item.kind === 'settle')
  const expected = new Map<string, Map<string, bigint>>()
  for (const { tenantId, item } of settled.filter(({ item }) => item.counted === true)) {
    const name = counterOf(tenantId, item)
    const sums = expected.get(name) ?? new Map<string, bigint>()
    expected.set(name, sums)
    for (const [part, value] of partsOf(item)) {
      sums.set(part, (sums.get(part) ?? 0n) + value)
    }
  }
  const stored = now.counters.map((counter) => ({ name: `${counter.tenantId} ${counter.id}`, counter }))
  return [
    ...stored.flatMap(({ name, counter }) =>
      Object.entries(counter).flatMap(([part, value]) =>
        typeof value === 'string' || value === undefined
          ? []
          : rule(
              BigInt(value) === (expected.get(name)?.get(part) ?? 0n),
              `counter ${name} has ${value} ${part}, and its rows ${expected.get(name)?.get(part)}`,
            ),
      ),
    ),
    ...[...expected.keys()].flatMap((name) =>
      rule(
        stored.some((each) => each.name === name),
        `there is no counter ${name}, and rows that it counts`,
      ),
    ),
    ...settled.flatMap(({ item }) =>
      rule(item.counted === true || amount(item.actual) === 0n, `the settlement of ${item.job} is not counted`),
    ),
  ]
}

function counterOf(tenantId: string, { at, ...row }: Item): string {
  const [keyId, operation, model] = [row.keyId, row.operation, row.model].map((name) => name ?? 'unknown')
  const day = new Date(Number(at)).toISOString().slice(0, 10)
  return `${tenantId} ${day}#${keyId}#${operation}#${model}`
}

function partsOf({ usage, actual }: Item): readonly (readonly [string, bigint])[] {
  const counts: Record<string, unknown> = { ...Object(usage) }
  return [['requests', 1n], ['cost', amount(actual)], ...USAGE.map((name) => [name, amount(counts[name])] as const)]
}

/** What the world outside of the table knows, for the rules that span both. */
export type Outside = {
  /** Prompts of every task that an upstream accepted. */
  readonly submitted: readonly string[]
  /** Paths of every callback that a receiver got. */
  readonly received: readonly string[]
  /** Prompts that were sent under an idempotency key. */
  readonly promptsWithKey: ReadonlySet<string>
  /** The digest of the key that each prompt was sent with. */
  readonly keyOfPrompt: ReadonlyMap<string, string>
  /** Slots of channels taken since the last look. */
  readonly claims: readonly Claim[]
  /** Every relayed request by its id. */
  readonly requests: ReadonlyMap<string, RelayedRequest>
  /** Ids of alerts that reached a receiver. */
  readonly alerted: readonly string[]
  readonly nowMilliseconds: number
}

/** Looks at everything after every write, and remembers what must never be taken back. */
export class Invariants {
  #before: Snapshot | undefined

  /** @returns every broken rule, in words. */
  check(items: readonly Item[], outside: Outside): string[] {
    const now = readSnapshot(items)
    const broken = [
      ...now.balances.flatMap(([tenant, balance]) => checkBalance(tenant, balance, now)),
      ...[...now.jobs.values()].flatMap((job) => checkJob(job, now)),
      ...[...now.channels].flatMap(([id, open]) => checkChannel(id, open, now)),
      ...checkAgainstBefore(this.#before, now, outside),
      ...outside.claims.flatMap((claim) => checkClaim(claim, now)),
      ...checkOnce(outside, now),
      ...checkRequests(outside, { before: this.#before, now }),
      ...checkUsage(now),
      ...checkBudgets(outside, { before: this.#before, now }),
      ...checkAlerts(outside, { before: this.#before, now }),
    ]
    this.#before = now
    return broken
  }

  /** The latest state that was looked at. */
  get snapshot(): Snapshot | undefined {
    return this.#before
  }
}

const RESOLVED_AS = { queued: 'held', processing: 'held', succeeded: 'settled', failed: 'released' } as const

function checkJob(job: VideoJob, now: Snapshot): string[] {
  const reservation = now.reservations.get(job.jobId)
  if (reservation === undefined) {
    return [`job ${job.jobId} has no reservation`]
  }
  return [
    ...rule(
      reservation.state === RESOLVED_AS[job.status] || isBilledCancel(job, reservation),
      `job ${job.jobId} is ${job.status} and its reservation is ${reservation.state}`,
    ),
    ...rule(isFairlyBilled(job, reservation), `job ${job.jobId} was billed ${reservation.actual}`),
  ]
}

/** A task that its upstream did not stop is billed, though its job has failed for the client. */
function isBilledCancel({ status, cancelledAt, finishedAt }: VideoJob, { state }: Reservation): boolean {
  return status === 'failed' && cancelledAt !== undefined && finishedAt !== undefined && state === 'settled'
}

/** By the frozen price and the seconds that the upstream reported; at the estimate only where it reported none. */
function isFairlyBilled(job: VideoJob, reservation: Reservation): boolean {
  if (reservation.state !== 'settled') {
    return true
  }
  const text = job.pollText !== undefined && 'inline' in job.pollText ? job.pollText.inline : '{}'
  const { seconds } = JSON.parse(text)
  const price = reservation.snapshot.prices[0]?.price ?? '0'
  const formula = microcredits(parseCredits(price) * BigInt(seconds ?? 0))
  return reservation.actual === (seconds === undefined ? reservation.amount : formula)
}

function checkChannel(id: string, open: number, now: Snapshot): string[] {
  const holding = [...now.jobs.values()].filter((job) => job.channelId === id && !isTerminal(job)).length
  return rule(open === holding, `channel ${id} counts ${open} open jobs and ${holding} hold a slot`)
}

/** A configuration may shrink; a claim made under a bound must have found room below it. */
function checkClaim({ channelId, max, claimedAt, disabledSince }: Claim, now: Snapshot): string[] {
  const isSeen = disabledSince !== undefined && disabledSince + SWITCHES_MILLISECONDS_MAX <= claimedAt * 1000
  return [
    ...rule((now.channels.get(channelId) ?? 0) <= max, `channel ${channelId} was given more than ${max} jobs`),
    ...rule(!isSeen, `channel ${channelId} was given a job at ${claimedAt}, and is disabled since ${disabledSince} ms`),
  ]
}

function checkAgainstBefore(before: Snapshot | undefined, now: Snapshot, outside: Outside): string[] {
  if (before === undefined) {
    return []
  }
  return [
    ...[...before.jobs.values()]
      .filter(isTerminal)
      .flatMap(({ jobId, status }) =>
        rule(now.jobs.get(jobId)?.status === status, `job ${jobId} left its final status ${status}`),
      ),
    ...[...before.jobs.values()]
      .filter(({ isDeleted }) => isDeleted)
      .flatMap((was) => checkDeleted(was, now.jobs.get(was.jobId))),
    ...[...before.jobs.values()]
      .filter(({ cancelledAt }) => cancelledAt !== undefined)
      .flatMap((was) => checkCancelled(was, now.jobs.get(was.jobId))),
    ...[...before.ledger].flatMap(([key, row]) =>
      rule(now.ledger.get(key) === row, `the ledger row ${key} changed or went away`),
    ),
    ...[...now.reservations].flatMap(([jobId, { request }]) => {
      if (before.reservations.has(jobId)) {
        return []
      }
      const { prompt } = JSON.parse('inline' in request ? request.inline : '{}')
      const digest = outside.keyOfPrompt.get(prompt) ?? ''
      return rule(
        before.keys.get(digest)?.state === 'active',
        `job ${jobId} was reserved with a key that is not active`,
      )
    }),
  ]
}

/** Nothing leaves the gateway for a deleted job any more. */
function checkDeleted(was: VideoJob, now: VideoJob | undefined): string[] {
  return [
    ...rule(was.callbackState === now?.callbackState, `the callback of the deleted job ${was.jobId} was claimed`),
    ...rule(
      was.submitState !== undefined || now?.submitState === undefined,
      `the submit of the deleted job ${was.jobId} was claimed`,
    ),
  ]
}

/** A cancelled job never comes back, and no upstream gets it any more. */
function checkCancelled(was: VideoJob, now: VideoJob | undefined): string[] {
  return [
    ...rule(now?.cancelledAt === was.cancelledAt, `the cancel of job ${was.jobId} was forgotten`),
    ...rule(now?.status !== 'succeeded', `the cancelled job ${was.jobId} succeeded`),
    ...rule(
      was.submitState !== undefined || now?.submitState === undefined,
      `the submit of the cancelled job ${was.jobId} was claimed`,
    ),
  ]
}

/** What the world may see at most once per job. */
function checkOnce({ submitted, received, promptsWithKey }: Outside, now: Snapshot): string[] {
  const prompts = [...now.reservations.values()].map(({ request }) =>
    String(JSON.parse('inline' in request ? request.inline : '{}').prompt),
  )
  return [
    ...repeated(submitted).map((prompt) => `${prompt} was submitted more than once`),
    ...repeated(received).map((path) => `the callback ${path} came more than once`),
    ...repeated(prompts.filter((prompt) => promptsWithKey.has(prompt))).map(
      (prompt) => `${prompt} became two jobs under one idempotency key`,
    ),
  ]
}
