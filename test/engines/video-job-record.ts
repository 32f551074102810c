import { v7 as uuidv7 } from 'uuid'
import { JOB_LIFETIME_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'
import { PER_SECOND_MODEL } from './test-catalogue.ts'

/** The record of a queued job that nothing has happened to yet, for rules that read a job without a table. */
export function videoJobRecord(changes: Partial<VideoJob> = {}): VideoJob {
  const createdAt = changes.createdAt ?? Math.trunc(Date.now() / 1000)
  return {
    tenantId: 'tenant',
    jobId: uuidv7({ msecs: createdAt * 1000 }),
    status: 'queued',
    model: PER_SECOND_MODEL,
    createdAt,
    expiresAt: createdAt + JOB_LIFETIME_SECONDS,
    isDeleted: false,
    videoKey: 'v/key.mp4',
    estimate: microcredits(700_000),
    callbackUrl: undefined,
    isWaitingForChannel: false,
    submitState: undefined,
    channelId: undefined,
    provider: undefined,
    submittedAt: undefined,
    taskId: undefined,
    submitText: undefined,
    pollText: undefined,
    goneCount: 0,
    isCancelRefused: false,
    finishedAt: undefined,
    storedDurationSeconds: undefined,
    failure: undefined,
    error: undefined,
    durationSeconds: undefined,
    callbackState: undefined,
    ...changes,
  }
}
