import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { JOB_LIFETIME_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { type Microcredits, microcredits, parseCredits } from '#core/money.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import { videoKey } from '#store/bucket/bucket.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'
import { type NewVideoJob, reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import { PER_SECOND_MODEL } from './test-catalogue.ts'

/** Who makes the changes of a test. */
export const TESTER: Actor = { name: 'tester@test', role: 'operator' }

export type TestTenant = { readonly tenantId: string; readonly keyDigest: string; readonly webhookSecret: string }

/** A tenant with one active key. Ids are new each time, so that tests of one table do not meet. */
export async function openTenant(table: Table, credits = '100'): Promise<TestTenant> {
  const tenantId = uuidv7()
  const keyDigest = randomBytes(32).toString('hex')
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`
  await createTenant(
    table,
    {
      id: tenantId,
      name: 'Test',
      webhookSecret,
      credits: parseCredits(credits),
      grantId: 'first',
      nowMilliseconds: Date.now(),
    },
    TESTER,
  )
  await putApiKey(
    table,
    {
      keyId: keyDigest.slice(0, 8),
      tenantId,
      models: null,
      createdAt: Date.now(),
      digest: keyDigest,
    },
    TESTER,
  )
  return { tenantId, keyDigest, webhookSecret }
}

export const REQUEST: VideoJobRequest = {
  model: PER_SECOND_MODEL,
  prompt: 'a boat',
  duration: 5,
  resolution: '720P',
  aspect_ratio: '16:9',
  generate_audio: true,
  watermark: true,
  image_urls: [],
  video_urls: [],
  audio_urls: [],
}

export const ESTIMATE = parseCredits('0.7')

/** A create of a five-second video at 0.14 per second, as the API would write it. */
export function newJob(tenant: TestTenant, changes: Partial<NewVideoJob> = {}): NewVideoJob {
  const createdAt = changes.createdAt ?? Math.trunc(Date.now() / 1000)
  const jobId = changes.jobId ?? uuidv7({ msecs: createdAt * 1000 })
  return {
    tenantId: tenant.tenantId,
    keyDigest: tenant.keyDigest,
    keyId: tenant.keyDigest.slice(0, 8),
    operation: 'create-video-job',
    jobId,
    model: PER_SECOND_MODEL,
    createdAt,
    expiresAt: createdAt + JOB_LIFETIME_SECONDS,
    videoKey: videoKey(randomBytes(16).toString('hex'), jobId),
    callbackUrl: undefined,
    request: { inline: JSON.stringify(REQUEST) },
    estimate: ESTIMATE,
    snapshot: {
      billing: 'per_second',
      prices: [{ resolution: 'any', audio: 'any', video_input: 'any', price: '0.14' }],
      quantityMax: 60,
    },
    line: { what: 'video', quantity: '5', unit: 'second', unitPrice: '0.14', amount: ESTIMATE },
    tier: { resolution: '720P', audio: true, videoInput: false },
    idempotency: undefined,
    ...changes,
  }
}

/** Reserves such a job and answers it. */
export async function reserveJob(
  table: Table,
  tenant: TestTenant,
  changes: Partial<NewVideoJob> = {},
): Promise<NewVideoJob> {
  const job = newJob(tenant, changes)
  await reserveQuota(table, job)
  return job
}

/** @throws when there is none. */
export async function requireReservation(table: Table, { tenantId, jobId }: { tenantId: string; jobId: string }) {
  const reservation = await getReservation(table, tenantId, jobId)
  if (reservation === undefined) {
    throw new Error(`no reservation of ${jobId}`)
  }
  return reservation
}

export function credits(text: string): Microcredits {
  return text.startsWith('-') ? microcredits(-parseCredits(text.slice(1))) : parseCredits(text)
}

export function settle(actual: string): Resolution {
  return { kind: 'settle', actual: credits(actual), durationSeconds: '5' }
}

export const RELEASE: Resolution = { kind: 'release', error: 'upstream said no' }

/** A job that was accepted and then settled in the second of its creation. `bill` in credits. */
export async function settledJob(
  table: Table,
  tenant: TestTenant,
  { bill, ...changes }: Partial<NewVideoJob> & { readonly bill: string },
): Promise<NewVideoJob> {
  const made = await reserveJob(table, tenant, changes)
  await settleJob(table, made, bill)
  return made
}

/** Lets the upstream accept an open job, and settles it, in the second of its creation unless said otherwise. `bill` in credits. */
export async function settleJob(
  table: Table,
  made: NewVideoJob,
  bill: string,
  atMilliseconds = made.createdAt * 1000,
): Promise<void> {
  const channel = { id: `ch-${made.jobId}`, max_open_jobs: 1, provider: 'p2' } as const
  await claimSubmit(table, { job: made, channel, nowSeconds: made.createdAt })
  await recordAccepted(table, made, {
    taskId: 'task',
    submitText: { inline: '{}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  const job = await getVideoJob(table, made.tenantId, made.jobId)
  if (job === undefined) {
    throw new Error('no job')
  }
  const reservation = await requireReservation(table, made)
  await resolveReservation(table, { job, reservation, resolution: settle(bill), nowMilliseconds: atMilliseconds })
}

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
