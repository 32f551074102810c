import type { VideoPriceTier } from '#core/catalogue/video-price.ts'
import { InvalidApiKeyError } from '#core/errors.ts'
import { TRANSITIONS } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money/money.ts'
import { jobIdMilliseconds } from '#core/parameters/job-id.ts'
import type { PriceSnapshot } from '#core/quota/price-snapshot.ts'
import { activeKeyCheck } from '../accounts/active-key-check.ts'
import { decodeItem } from '../table/attribute-value.ts'
import { ConditionsNotMetError } from '../table/cancelled-transaction.ts'
import type { Table } from '../table/table.ts'
import { dueSortKey, openShard, tableKeys } from '../table/table-keys.ts'
import { type TransactionItem, transact } from '../table/transaction.ts'
import { explainBalance } from './balance-refusal.ts'

/** Seconds after creation at which Reconcile first looks whether the execution exists. */
const FIRST_CHECK_SECONDS = 60

/** Everything that one create writes, in one transaction. */
export type NewVideoJob = {
  readonly tenantId: string
  readonly keyDigest: string
  readonly jobId: string
  readonly model: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly expiresAt: number
  readonly videoKey: string
  readonly callbackUrl: string | undefined
  readonly requestId?: string | undefined
  readonly request: { readonly inline: string } | { readonly bucketKey: string }
  readonly estimate: Microcredits
  readonly snapshot: PriceSnapshot
  readonly tier: VideoPriceTier
  readonly idempotency: { readonly digest: string; readonly bodyHash: string; readonly expiresAt: number } | undefined
}

/** The idempotency key already stands for a job; nothing was written. */
export class IdempotencyKeyTakenError extends Error {
  override readonly name = 'IdempotencyKeyTakenError'
}

/**
 * Locks the estimate and writes the job, or neither. The transaction also proves that the key is still active.
 * @param besides writes and checks that go with it.
 * @throws ConditionsNotMetError when `besides` alone refused.
 * @throws InvalidApiKeyError for a key revoked, suspended or expired meanwhile (before funds are judged).
 * @throws IdempotencyKeyTakenError before funds are judged, so that a repeat finds its job with an empty balance too.
 * @throws InsufficientQuotaError when the available balance is below the estimate, or the tenant does not exist.
 * @throws TooManyOpenJobsError when funds suffice and the tenant has as many open jobs as it may have.
 * @throws ServiceUnavailableError when the balance stayed contended.
 */
export async function reserveQuota(
  table: Table,
  job: NewVideoJob,
  besides: readonly TransactionItem[] = [],
): Promise<void> {
  const items = [
    { ConditionCheck: { TableName: undefined, ...activeKeyCheck(job.keyDigest, job.createdAt) } },
    lockFunds(job),
    putReservation(job),
    putJob(job),
    putLedgerRow(job),
    ...(job.idempotency === undefined ? [] : [putIdempotencyKey(job, job.idempotency)]),
    ...besides,
  ].map((item) => withTableName(item, table.name))
  try {
    await transact(table, items)
  } catch (error) {
    throw error instanceof ConditionsNotMetError ? explainRefusal(job, error) : error
  }
}

const BALANCE_INDEX = 1
const IDEMPOTENCY_INDEX = 5

function explainRefusal(job: NewVideoJob, error: ConditionsNotMetError): Error {
  const [isKeyInactive, isBalanceRefused] = error.failed
  if (isKeyInactive) {
    return new InvalidApiKeyError()
  }
  if (job.idempotency !== undefined && error.failed[IDEMPOTENCY_INDEX]) {
    return new IdempotencyKeyTakenError('the idempotency key was used before', { cause: error })
  }
  const stored = error.stored[BALANCE_INDEX]
  return isBalanceRefused ? explainBalance(job, stored === undefined ? undefined : decodeItem(stored)) : error
}

function lockFunds(job: NewVideoJob): TransactionItem {
  const tenantIsActive = 'attribute_exists(PK) AND #state = :active'
  const fundsSuffice = 'available >= :amount'
  const isOneMoreAllowed = '(attribute_not_exists(openJobsMax) OR openJobs < openJobsMax)'
  return {
    Update: {
      TableName: undefined,
      Key: tableKeys.balance(job.tenantId),
      UpdateExpression: 'SET available = available - :amount, held = held + :amount ADD openJobs :one',
      ConditionExpression: [tenantIsActive, fundsSuffice, isOneMoreAllowed].join(' AND '),
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':amount': job.estimate, ':active': 'active', ':one': 1 },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}

const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }

function putReservation(job: NewVideoJob): TransactionItem {
  const request = 'inline' in job.request ? { request: job.request.inline } : { requestKey: job.request.bucketKey }
  return {
    Put: {
      TableName: undefined,
      ...isNew,
      Item: {
        ...tableKeys.reservation(job.tenantId, job.jobId),
        amount: job.estimate,
        state: 'held',
        snapshot: job.snapshot,
        tier: job.tier,
        ...request,
        counted: true,
        restarts: 0,
        createdAt: job.createdAt,
        GSI1PK: openShard(job.jobId),
        GSI1SK: dueSortKey((job.createdAt + FIRST_CHECK_SECONDS) * 1000),
      },
    },
  }
}

function putJob(job: NewVideoJob): TransactionItem {
  return {
    Put: {
      TableName: undefined,
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

function putLedgerRow(job: NewVideoJob): TransactionItem {
  return {
    Put: {
      TableName: undefined,
      ...isNew,
      Item: {
        ...tableKeys.ledgerReserve(job.tenantId, job.jobId),
        kind: 'reserve',
        job: job.jobId,
        amount: job.estimate,
        at: jobIdMilliseconds(job.jobId),
      },
    },
  }
}

function putIdempotencyKey(job: NewVideoJob, key: NonNullable<NewVideoJob['idempotency']>): TransactionItem {
  const keyIsFree = 'attribute_not_exists(PK) OR #ttl <= :now'
  return {
    Put: {
      TableName: undefined,
      Item: {
        ...tableKeys.idempotency(job.tenantId, key.digest),
        bodyHash: key.bodyHash,
        job: job.jobId,
        ttl: key.expiresAt,
      },
      ConditionExpression: keyIsFree,
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': job.createdAt },
    },
  }
}

function withTableName(item: TransactionItem, tableName: string): TransactionItem {
  const [[kind, body] = []] = Object.entries(item)
  return kind === undefined ? item : { [kind]: { ...body, TableName: tableName } }
}
