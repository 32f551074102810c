import type { VideoPriceTier } from '#core/catalogue/price-rows.ts'
import { InvalidApiKeyError } from '#core/errors.ts'
import { TRANSITIONS } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money/money.ts'
import { jobIdMilliseconds } from '#core/parameters/job-id.ts'
import type { PriceSnapshot } from '#core/quota/price-snapshot.ts'
import { activeKeyCheck } from '../accounts/api-key-record.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { dueSortKey, openShard, tableKeys } from '../table/table-keys.ts'
import { explainBalance } from './balance-refusal.ts'

/** Seconds after creation at which Reconcile first looks whether the execution exists. */
const FIRST_CHECK_SECONDS = 60

/** Everything that one create writes, in one transaction. Times in Unix seconds. */
export type NewVideoJob = {
  readonly tenantId: string
  readonly keyDigest: string
  /** The revision of the key that the request read. */
  readonly keyRevision?: number | undefined
  readonly jobId: string
  readonly model: string
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

/** The idempotency key already belongs to a job; nothing was written. */
export class IdempotencyKeyTakenError extends Error {
  override readonly name = 'IdempotencyKeyTakenError'
}

/**
 * Locks the estimate and writes the job, or neither. The transaction also proves that the key is still active and unchanged.
 * @param announcement the write that takes over a request in the bucket.
 * @throws ConditionsNotMetError when the announcement alone refused, under that name.
 * @throws InvalidApiKeyError for a key that was revoked, suspended or changed, or has expired (before funds are judged).
 * @throws IdempotencyKeyTakenError before funds are judged, so that a repeat finds its job even with an empty balance.
 * @throws InsufficientQuotaError when the available balance is below the estimate, or the tenant does not exist.
 * @throws TooManyOpenJobsError when funds suffice and the tenant has as many open jobs as it may have.
 * @throws ServiceUnavailableError when the balance stayed contended.
 */
export async function reserveQuota(table: Table, job: NewVideoJob, announcement?: TableWrite): Promise<void> {
  try {
    await table.transact({
      key: { ConditionCheck: activeKeyCheck({ keyDigest: job.keyDigest, revision: job.keyRevision }, job.createdAt) },
      balance: lockFunds(job),
      reservation: putReservation(job),
      job: putJob(job),
      row: putLedgerRow(job),
      idempotency: job.idempotency === undefined ? undefined : putIdempotencyKey(job, job.idempotency),
      announcement,
    })
  } catch (error) {
    throw error instanceof ConditionsNotMetError ? explainRefusal(job, error) : error
  }
}

function explainRefusal(job: NewVideoJob, error: ConditionsNotMetError): Error {
  if (error.failed.has('key')) {
    return new InvalidApiKeyError()
  }
  if (error.failed.has('idempotency')) {
    return new IdempotencyKeyTakenError('the idempotency key was used before', { cause: error })
  }
  return error.failed.has('balance') ? explainBalance(job, error.oldItems.get('balance')) : error
}

function lockFunds(job: NewVideoJob): TableWrite {
  const tenantIsActive = 'attribute_exists(PK) AND #state = :active'
  const fundsSuffice = 'available >= :amount'
  const isOneMoreAllowed = '(attribute_not_exists(openJobsMax) OR openJobs < openJobsMax)'
  return {
    Update: {
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

function putReservation(job: NewVideoJob): TableWrite {
  const request = 'inline' in job.request ? { request: job.request.inline } : { requestKey: job.request.bucketKey }
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
        counted: true,
        restarts: 0,
        createdAt: job.createdAt,
        GSI1PK: openShard(job.jobId),
        GSI1SK: dueSortKey((job.createdAt + FIRST_CHECK_SECONDS) * 1000),
      },
    },
  }
}

function putJob(job: NewVideoJob): TableWrite {
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

function putLedgerRow(job: NewVideoJob): TableWrite {
  return {
    Put: {
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

function putIdempotencyKey(job: NewVideoJob, key: NonNullable<NewVideoJob['idempotency']>): TableWrite {
  const keyIsFree = 'attribute_not_exists(PK) OR #ttl <= :now'
  return {
    Put: {
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
