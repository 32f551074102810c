import * as z from 'zod/mini'
import { type Budget, BudgetExceededError, budgetAt } from '#core/budgets.ts'
import type { VideoPriceTier } from '#core/catalogue/price-rows.ts'
import {
  InsufficientQuotaError,
  InvalidApiKeyError,
  ServiceUnavailableError,
  TooManyOpenJobsError,
} from '#core/errors.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import { TRANSITIONS } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money.ts'
import type { PriceLine, PriceSnapshot } from '#core/pricing/video-cost.ts'
import { refusedKey } from '#core/refused-key.ts'
import type { Clock } from '../../platform/clock.ts'
import { asError, logger } from '../../platform/telemetry/logger.ts'
import { type OpenBucket, putText } from '../bucket/bucket.ts'
import {
  guessBudgets,
  type KnownBudgets,
  moveKeyBudget,
  moveTenantBudget,
  type TenantBudgets,
  transactWithBudgets,
} from '../budget-moves.ts'
import { readKeyBudget, readTenantBudget } from '../budgets.ts'
import { activeKeyCheck, type BudgetOfKey, nameBudget } from '../callers.ts'
import { storedAmount } from '../table/attributes.ts'
import { ConditionsNotMetError, type Item, type NamedWrites, type Table, type TableWrite } from '../table/table.ts'
import { dueSortKey, openShard, tableKeys } from '../table/table-keys.ts'
import { announceRequest, dropAnnouncedRequest, takeAnnouncedRequest } from './announced-request.ts'
import { type ExpiringKey, IdempotencyKeyTakenError, putIdempotencyKey } from './idempotency-keys.ts'

const balanceItem = z.object({
  state: z.string(),
  available: storedAmount,
  openJobs: z.number(),
  openJobsMax: z.optional(z.number()),
})

/** `createdAt`: Unix seconds. */
type Wanted = { readonly estimate: Microcredits; readonly createdAt: number }

/** Whether a balance refuses like a revoked key. */
export function isSuspended(balance: Item | undefined): boolean {
  return balance !== undefined && balanceItem.parse(balance).state !== 'active'
}

/** Why the budget of a key refused a job, by its item at that moment; undefined for a budget that does not exist. */
export function explainKeyBudget(wanted: Wanted, item: Item | undefined): Error {
  return item === undefined ? new BudgetExceededError() : exceeded('api key', wanted, readKeyBudget(item))
}

function exceeded(of: 'api key' | 'tenant', { estimate, createdAt }: Wanted, budget: Budget): Error {
  const { left, period } = budgetAt(budget, createdAt * 1000)
  return new BudgetExceededError({ of, needed: estimate, left, period })
}

/**
 * Why a balance refused a job, by the balance at that moment; undefined for a tenant that does not exist.
 * A suspended tenant is refused like its keys; its budget is judged before funds, and funds before the count of open jobs.
 */
export function explainBalance(wanted: Wanted, balance: Item | undefined): Error {
  if (balance === undefined) {
    return new InsufficientQuotaError()
  }
  const { state, available } = balanceItem.parse(balance)
  if (state !== 'active') {
    return new InvalidApiKeyError()
  }
  const budget = readTenantBudget(balance)
  if (budget !== undefined && !hasRoom(wanted, budget)) {
    return exceeded('tenant', wanted, budget)
  }
  if (available >= wanted.estimate) {
    return new TooManyOpenJobsError()
  }
  return new InsufficientQuotaError('video generation', { needed: wanted.estimate, available })
}

function hasRoom({ estimate, createdAt }: Wanted, budget: Budget): boolean {
  return estimate === 0n || budgetAt(budget, createdAt * 1000).left >= estimate
}

type Read = {
  readonly balance: Item | undefined
  /** The item of the key's budget; undefined for a key without one. */
  readonly keyBudget: Item | undefined
}

/** Why this balance, or the budget of the key, would refuse a reservation now; undefined if neither would. */
export function foreseeRefusal(wanted: Wanted, { balance, keyBudget }: Read): Error | undefined {
  const parsed = balanceItem.safeParse(balance)
  if (!parsed.success || balance === undefined || isSuspended(balance)) {
    return explainBalance(wanted, balance)
  }
  if (keyBudget !== undefined && !hasRoom(wanted, readKeyBudget(keyBudget))) {
    return explainKeyBudget(wanted, keyBudget)
  }
  const { available, openJobs, openJobsMax } = parsed.data
  const budget = readTenantBudget(balance)
  const isOneMoreAllowed = openJobsMax === undefined || openJobs < openJobsMax
  const passes = available >= wanted.estimate && isOneMoreAllowed && (budget === undefined || hasRoom(wanted, budget))
  return passes ? undefined : explainBalance(wanted, balance)
}

/** Everything that one create writes, in one transaction. Times in Unix seconds. */
export type NewVideoJob = {
  readonly tenantId: string
  readonly keyDigest: string
  /** The revision of the key that the request read. */
  readonly keyRevision?: number | undefined
  readonly keyId: string
  /** As in the table of routes. */
  readonly operation: string
  /** In which the job counts. */
  readonly budget?: BudgetOfKey | undefined
  readonly jobId: string
  readonly model: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly videoKey: string
  readonly callbackUrl: string | undefined
  readonly requestId?: string | undefined
  readonly request: { readonly inline: string } | { readonly bucketKey: string }
  readonly estimate: Microcredits
  /** The estimate in its parts. */
  readonly line: PriceLine
  readonly snapshot: PriceSnapshot
  readonly tier: VideoPriceTier
  readonly idempotency: ExpiringKey | undefined
}

/** Seconds after creation at which Reconcile first looks whether the execution exists. */
const FIRST_CHECK_SECONDS = 60

const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }

/** The reservation, with all that its settlement needs. */
export function putReservation(job: NewVideoJob, known: KnownBudgets): TableWrite {
  const request = 'inline' in job.request ? { request: job.request.inline } : { requestKey: job.request.bucketKey }
  // An estimate of zero moves no budget, but the reported tier may have a price, which counts then.
  const budget = known.key === undefined ? job.budget : { id: known.key.id, kind: known.key.period.kind }
  return {
    Put: {
      ...isNew,
      Item: {
        ...tableKeys.reservation(job.tenantId, job.jobId),
        amount: job.estimate,
        state: 'held',
        snapshot: job.snapshot,
        tier: job.tier,
        ...request,
        keyId: job.keyId,
        operation: job.operation,
        ...nameBudget(budget),
        tenantBudgetPeriod: known.tenant?.kind,
        restarts: 0,
        createdAt: job.createdAt,
        GSI1PK: openShard(job.jobId),
        GSI1SK: dueSortKey((job.createdAt + FIRST_CHECK_SECONDS) * 1000),
      },
    },
  }
}

/** The record that clients see. */
export function putJob(job: NewVideoJob): TableWrite {
  return {
    Put: {
      ...isNew,
      Item: {
        ...tableKeys.job(job.tenantId, job.jobId),
        status: TRANSITIONS.created.to,
        model: job.model,
        createdAt: job.createdAt,
        expiresAt: job.expiresAt,
        videoKey: job.videoKey,
        estimate: job.estimate,
        callbackUrl: job.callbackUrl,
        requestId: job.requestId,
      },
    },
  }
}

/** The first of the two ledger rows of a job. */
export function putReserveRow(job: NewVideoJob): TableWrite {
  return {
    Put: {
      ...isNew,
      Item: {
        ...tableKeys.ledgerReserve(job.tenantId, job.jobId),
        kind: 'reserve',
        job: job.jobId,
        amount: job.estimate,
        at: jobIdMilliseconds(job.jobId),
        model: job.model,
        operation: job.operation,
        keyId: job.keyId,
        billing: job.snapshot.billing,
        lines: [job.line],
      },
    },
  }
}

type ReserveOptions = {
  /** The write that takes over a request in the bucket. */
  readonly announcement?: TableWrite
  /** Without this memory, the budget of a tenant costs a second try. */
  readonly tenantBudgets?: TenantBudgets | undefined
}

/**
 * Locks the estimate and writes the job, or neither. The transaction also proves that the key is still active and unchanged, and
 * that budgets have room.
 * @throws ConditionsNotMetError when the announcement alone refused, under that name.
 * @throws InvalidApiKeyError for a key that was revoked, suspended or changed, or has expired (before funds are judged).
 * @throws IdempotencyKeyTakenError before funds are judged, so that a repeat finds its job even with an empty balance.
 * @throws BudgetExceededError when the budget of the key, or then of the tenant, has less left than the estimate.
 * @throws InsufficientQuotaError when the available balance is below the estimate, or the tenant does not exist.
 * @throws TooManyOpenJobsError when funds suffice and the tenant has as many open jobs as it may have.
 * @throws ServiceUnavailableError when the balance stayed contended.
 */
export async function reserveQuota(table: Table, job: NewVideoJob, options: ReserveOptions = {}): Promise<void> {
  const { tenantBudgets } = options
  const nowMilliseconds = job.createdAt * 1000
  const key = job.estimate === 0n ? undefined : job.budget
  try {
    const proved = await transactWithBudgets(table, {
      known: guessBudgets({ key, tenantKind: tenantBudgets?.kindOf(job.tenantId) }, nowMilliseconds),
      nowMilliseconds,
      compose: (known) => composeReservation(job, known, options.announcement),
      isFinal: (name) => name === 'key' || name === 'idempotency',
      needsKeyBudget: true,
    })
    tenantBudgets?.learn(job.tenantId, proved)
  } catch (error) {
    throw error instanceof ConditionsNotMetError ? explainRefusal(job, error) : error
  }
}

function composeReservation(job: NewVideoJob, known: KnownBudgets, announcement: TableWrite | undefined): NamedWrites {
  return {
    key: { ConditionCheck: activeKeyCheck({ keyDigest: job.keyDigest, revision: job.keyRevision }, job.createdAt) },
    keyBudget: known.key && moveKeyBudget(known.key.id, { ...lock(job), known: known.key.period }),
    balance: lockFunds(job, known),
    reservation: putReservation(job, known),
    job: putJob(job),
    row: putReserveRow(job),
    idempotency: job.idempotency === undefined ? undefined : putIdempotencyKey(job, job.idempotency),
    announcement,
  }
}

function explainRefusal(job: NewVideoJob, error: ConditionsNotMetError): Error {
  const { failed, oldItems } = error
  const balance = oldItems.get('balance')
  if (failed.has('key') || isSuspended(balance)) {
    return refusedKey(job.keyDigest)
  }
  if (failed.has('idempotency')) {
    return new IdempotencyKeyTakenError('the idempotency key was used before', { cause: error })
  }
  if (failed.has('keyBudget')) {
    return explainKeyBudget(job, oldItems.get('keyBudget'))
  }
  return failed.has('balance') ? explainBalance(job, balance) : error
}

/** The move of a budget by a reservation. */
function lock({ estimate, createdAt }: NewVideoJob) {
  return { move: { locked: estimate, closed: 0n, billed: 0n }, nowMilliseconds: createdAt * 1000 }
}

function lockFunds(job: NewVideoJob, { tenant }: KnownBudgets): TableWrite {
  const tenantIsActive = 'attribute_exists(PK) AND #state = :active'
  const fundsSuffice = 'available >= :amount'
  const isOneMoreAllowed = '(attribute_not_exists(openJobsMax) OR openJobs < openJobsMax)'
  const budget = moveTenantBudget({ ...lock(job), known: tenant })
  return {
    Update: {
      Key: tableKeys.balance(job.tenantId),
      UpdateExpression: `SET available = available - :amount, held = held + :amount${budget.set} ADD openJobs :one`,
      ConditionExpression: [tenantIsActive, fundsSuffice, isOneMoreAllowed, budget.condition].join(' AND '),
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ...budget.values, ':amount': job.estimate, ':active': 'active', ':one': 1 },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}

type ReserveContext = Pick<Clock, 'nowMilliseconds'> & {
  readonly table: Table
  readonly openBucket: OpenBucket
  readonly tenantBudgets?: TenantBudgets | undefined
}

/**
 * Reserves, and stores the request. A small request goes into the reservation itself. A large one goes to the bucket first, so
 * that no job is without its request, but only after a look at the balance, and is deleted when the reservation is refused.
 * @throws what {@link reserveQuota} throws; ServiceUnavailableError when Reconcile dropped the request of a create that was slow.
 */
export async function reserveWithRequest(
  context: ReserveContext,
  job: NewVideoJob,
  requestText: string,
): Promise<void> {
  const { table, openBucket, tenantBudgets } = context
  if ('inline' in job.request) {
    return await reserveQuota(table, job, { tenantBudgets })
  }
  await requireChance(table, job)
  const { bucketKey } = job.request
  await announceRequest(table, job, { bucketKey, nowMilliseconds: context.nowMilliseconds() })
  // A put that failed may still arrive, so its object is left to Reconcile, which comes later.
  await putText(await openBucket(), bucketKey, requestText)
  try {
    await reserveQuota(table, job, { tenantBudgets, announcement: takeAnnouncedRequest(job) })
  } catch (error) {
    await dropOrLeaveToReconcile(context, job)
    const isOnlyDropped = error instanceof ConditionsNotMetError && error.failed.has('announcement')
    throw isOnlyDropped ? new ServiceUnavailableError({ cause: error }) : error
  }
}

/** @throws what the transaction would throw now. A repeat is recognised before funds are judged, as in the transaction. */
async function requireChance(table: Table, job: NewVideoJob): Promise<void> {
  const { tenantId, idempotency, createdAt, budget } = job
  const [balance, keyBudget, taken] = await Promise.all([
    table.readItem(tableKeys.balance(tenantId)),
    budget === undefined ? undefined : table.readItem(tableKeys.keyBudget(budget.id)),
    idempotency === undefined ? undefined : table.readItem(tableKeys.idempotency(tenantId, idempotency.digest)),
  ])
  if (taken !== undefined && Number(taken.ttl) > createdAt) {
    throw new IdempotencyKeyTakenError('the idempotency key was used before')
  }
  const refusal = foreseeRefusal(job, { balance, keyBudget })
  if (refusal !== undefined) {
    throw refusal
  }
}

/** Keeps the request of a reservation that was made although its response was lost. */
async function dropOrLeaveToReconcile(context: ReserveContext, job: NewVideoJob): Promise<void> {
  try {
    await dropAnnouncedRequest(context, job)
  } catch (error) {
    logger.warn('request of a refused job not deleted; reconcile will', {
      tenantId: job.tenantId,
      jobId: job.jobId,
      error: asError(error),
    })
  }
}
