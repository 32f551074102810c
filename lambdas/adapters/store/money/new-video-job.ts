import type { VideoPriceTier } from '#core/catalogue/price-rows.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import { TRANSITIONS } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money.ts'
import type { PriceLine, PriceSnapshot } from '#core/pricing/video-cost.ts'
import type { BudgetOfKey } from '../accounts/api-key-record.ts'
import type { TableWrite } from '../table/table.ts'
import { dueSortKey, openShard, tableKeys } from '../table/table-keys.ts'
import type { KnownBudgets } from './known-budgets.ts'

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
  readonly idempotency: { readonly digest: string; readonly bodyHash: string; readonly expiresAt: number } | undefined
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
        budgetId: budget?.id,
        budgetPeriod: budget?.kind,
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

/** Takes an idempotency key that is free or has expired. */
export function putIdempotencyKey(job: NewVideoJob, key: NonNullable<NewVideoJob['idempotency']>): TableWrite {
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
