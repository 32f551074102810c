import type { VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'

/** A job that was just created, at second 1,000. */
export const QUEUED: VideoJob = {
  tenantId: 'tenant',
  jobId: '01a1fc2e-81af-73ac-ac94-a565c804e433',
  status: 'queued',
  model: 'famA-2',
  createdAt: 1000,
  expiresAt: 606_800,
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
}

/** The same job later: accepted, finished, stored and billed, each some seconds after the stage before. */
export const PROCESSING: VideoJob = {
  ...QUEUED,
  status: 'processing',
  submitState: 'accepted',
  channelId: 'p2-direct',
  provider: 'p2',
  submittedAt: 1002,
  acceptedAt: 1003,
  taskId: 'task',
}
export const FINISHED: VideoJob = { ...PROCESSING, finishedAt: 1090 }
export const STORED: VideoJob = { ...FINISHED, storedDurationSeconds: '5', storedAt: 1094 }
export const SUCCEEDED: VideoJob = {
  ...STORED,
  status: 'succeeded',
  durationSeconds: '5',
  billed: microcredits(705_600),
  endedAt: 1095,
}
