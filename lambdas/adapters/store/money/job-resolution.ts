import type { VideoJob } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money.ts'
import { type CountedUsage, countedUsage, isCounted, nonZeroCounts } from '#core/pricing/usage.ts'
import type { PriceLine } from '#core/pricing/video-cost.ts'
import type { Item } from '../table/item-codec.ts'
import type { NamedWrites, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import type { Reservation } from './reservation.ts'
import { countUsage } from './usage-counters.ts'

/** How a job ends: billed, or given back. */
export type Resolution =
  | {
      readonly kind: 'settle'
      readonly actual: Microcredits
      readonly durationSeconds: string | undefined
      /** The usage that `actual` is the price of. */
      readonly usage?: CountedUsage
      /** `actual` in its parts; left out where the estimate is billed. */
      readonly line?: PriceLine | undefined
      /** Whether `actual` is the estimate, because no usage was reported. */
      readonly estimated?: boolean
    }
  | {
      readonly kind: 'release'
      readonly error: string
      /** For operators; when left out, a cause that was recorded before stays. */
      readonly cause?: string
      /** The entry of the audit log, if an operator ends the job. */
      readonly audit?: TableWrite
    }

/** A resolution of a job as it was read, at a time. */
export type JobResolution = {
  readonly job: VideoJob
  readonly reservation: Reservation
  readonly resolution: Resolution
  readonly nowMilliseconds: number
}

/** The write that counts a settlement; none for a release or a bill of zero. */
export function countSettlement(context: JobResolution): NamedWrites {
  const { job, reservation, resolution, nowMilliseconds: at } = context
  if (resolution.kind !== 'settle') {
    return {}
  }
  const { keyId, operation } = reservation
  const { usage = countedUsage({}), actual } = resolution
  return countUsage([{ tenantId: job.tenantId, at, keyId, operation, model: job.model, usage, actual }])
}

/** The second of the two ledger rows of a job, one key for settlement and release. */
export function putResolutionRow(context: JobResolution): TableWrite {
  const { job, reservation, resolution, nowMilliseconds } = context
  return {
    Put: {
      ConditionExpression: 'attribute_not_exists(PK)',
      Item: {
        ...tableKeys.ledgerResolution(job.tenantId, job.jobId),
        kind: resolution.kind,
        job: job.jobId,
        amount: reservation.amount,
        at: nowMilliseconds,
        model: job.model,
        operation: reservation.operation,
        keyId: reservation.keyId,
        ...(resolution.kind === 'settle' ? settledAttributes(context, resolution) : {}),
      },
    },
  }
}

function settledAttributes(
  context: JobResolution,
  { actual, usage, line, estimated }: Extract<Resolution, { kind: 'settle' }>,
): Item {
  const { job, reservation } = context
  return {
    actual,
    channel: job.channelId,
    usage: usage && nonZeroCounts(usage),
    billing: reservation.snapshot.billing,
    lines: line && [line],
    estimated: estimated === true ? true : undefined,
    counted: isCounted({ actual }) ? true : undefined,
  }
}
