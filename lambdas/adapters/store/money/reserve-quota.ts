import { InvalidApiKeyError } from '#core/errors.ts'
import { activeKeyCheck } from '../accounts/api-key-record.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { NamedWrites, Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { explainBalance, explainKeyBudget, isSuspended } from './balance-refusal.ts'
import { moveKeyBudget, moveTenantBudget } from './budget-writes.ts'
import { guessBudgets, type KnownBudgets, type TenantBudgets, transactWithBudgets } from './known-budgets.ts'
import { type NewVideoJob, putIdempotencyKey, putJob, putReservation, putReserveRow } from './new-video-job.ts'

/** The idempotency key already belongs to a job; nothing was written. */
export class IdempotencyKeyTakenError extends Error {
  override readonly name = 'IdempotencyKeyTakenError'
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
    return new InvalidApiKeyError()
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
