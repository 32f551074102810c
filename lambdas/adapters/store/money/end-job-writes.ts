import { JOB_RECORD_SECONDS, TRANSITIONS, type VideoJob, visibleError } from '#core/jobs/video-job.ts'
import type { TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import type { JobResolution } from './job-resolution.ts'
import { leaveDueIndex } from './resolved-request.ts'

/** Seconds between the last moment at which a record is visible and its expiry in the table. */
const RECORD_SLACK_SECONDS = 24 * 60 * 60

/** When the table may delete the record; never set while a reservation is open. */
function ttlSeconds({ job, nowMilliseconds }: JobResolution): number {
  return Math.max(job.createdAt + JOB_RECORD_SECONDS, Math.trunc(nowMilliseconds / 1000)) + RECORD_SLACK_SECONDS
}

/** Closes a reservation that is still open with the amount that was read. */
export function closeReservation(context: JobResolution): TableWrite {
  const { job, reservation, resolution } = context
  const isStillHeld = '#state = :held AND amount = :amount'
  const due = leaveDueIndex(reservation, context.nowMilliseconds)
  return {
    Update: {
      Key: tableKeys.reservation(job.tenantId, job.jobId),
      UpdateExpression: `SET #state = :state, actual = :actual, resolvedAt = :now, #ttl = :ttl${due.set}${due.remove}`,
      ConditionExpression: isStillHeld,
      ExpressionAttributeNames: { '#state': 'state', '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ...due.values,
        ':state': resolution.kind === 'settle' ? 'settled' : 'released',
        ':actual': resolution.kind === 'settle' ? resolution.actual : 0,
        ':now': context.nowMilliseconds,
        ':ttl': ttlSeconds(context),
        ':held': 'held',
        ':amount': reservation.amount,
      },
    },
  }
}

/** Ends the record of a job that is still open and on the channel that it was read with. */
export function endJob(context: JobResolution): TableWrite {
  const { job, resolution } = context
  const isCancelled = job.cancelledAt !== undefined
  const { from, to } = TRANSITIONS[resolution.kind === 'release' ? 'released' : isCancelled ? 'billed' : 'settled']
  const statuses = Object.fromEntries(from.map((status, index) => [`:from${index}`, status]))
  const mayEnd = `#status IN (${Object.keys(statuses).join(', ')})`
  const slotIsAsRead = job.channelId === undefined ? 'attribute_not_exists(channelId)' : 'channelId = :channel'
  // A cancel between the read and this write decides the status, so the job is read again.
  const markIsAsRead = `attribute_${isCancelled ? '' : 'not_'}exists(cancelledAt)`
  const outcome = outcomeOf(context)
  return {
    Update: {
      Key: tableKeys.job(job.tenantId, job.jobId),
      UpdateExpression: `SET #status = :status, #ttl = :ttl, endedAt = :ended, ${outcome.set}`,
      ConditionExpression: [mayEnd, slotIsAsRead, markIsAsRead].join(' AND '),
      ExpressionAttributeNames: {
        '#status': 'status',
        '#ttl': 'ttl',
        ...(to === 'failed' ? { '#error': 'error' } : {}),
      },
      ExpressionAttributeValues: {
        ...statuses,
        ...outcome.values,
        ':status': to,
        ':ttl': ttlSeconds(context),
        ':ended': Math.trunc(context.nowMilliseconds / 1000),
        ...(job.channelId === undefined ? {} : { ':channel': job.channelId }),
      },
    },
  }
}

function outcomeOf({ job, resolution }: JobResolution) {
  if (resolution.kind === 'settle') {
    const billed = { ':billed': resolution.actual }
    return job.cancelledAt === undefined
      ? {
          set: 'durationSeconds = :duration, billed = :billed',
          values: { ...billed, ':duration': resolution.durationSeconds ?? null },
        }
      : { set: '#error = :error, billed = :billed', values: { ...billed, ':error': visibleError(job) } }
  }
  const { error, cause } = resolution
  return cause === undefined
    ? { set: '#error = :error', values: { ':error': error } }
    : { set: '#error = :error, failureCause = :cause', values: { ':error': error, ':cause': cause } }
}

/** A claimed job holds one slot of its channel until this transaction. */
export function freeSlot(job: VideoJob): TableWrite | undefined {
  if (job.channelId === undefined) {
    return undefined
  }
  return {
    Update: {
      Key: tableKeys.channel(job.channelId),
      UpdateExpression: 'ADD #open :minusOne, version :one',
      ExpressionAttributeNames: { '#open': 'open' },
      ExpressionAttributeValues: { ':minusOne': -1, ':one': 1 },
    },
  }
}
