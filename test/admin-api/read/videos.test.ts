import { beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { videoDetailResponse } from '#core/admin/read-responses.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'
import { attemptRows, callbackOf, mayResend } from '#lambdas/admin/callback-attempts.ts'
import type { ReadContext } from '#lambdas/admin-api/read/read-context.ts'
import { videoRow } from '#lambdas/admin-api/read/videos.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob, settledJob, type TestTenant, videoJobRecord } from '../../engines/video-jobs.ts'
import { keyOf, readRig } from './read-rig.ts'

describe('get-video', () => {
  const engine = useTestTable()
  process.env.CONSOLE_ORIGIN = 'loopback'

  let read: ReturnType<typeof readRig>
  let tenant: TestTenant
  beforeAll(async () => {
    read = readRig(engine.table)
    tenant = await openTenant(engine.table)
  })

  const url = (jobId: string) => `/videos/${jobId}`

  it('get-video 200: request, replies, events, receipt and what the session may do, with two requests', async () => {
    const { jobId } = await settledJob(engine.table, tenant, { bill: '0.1' })
    const { status, body, requests } = await read(url(jobId), { tenant: tenant.tenantId })
    expect([status, videoDetailResponse.safeParse(body).error, requests]).toEqual([200, undefined, 2])
    expect(body).toMatchObject({
      id: jobId,
      tenant: { id: tenant.tenantId, name: 'Test' },
      status: 'succeeded',
      cost: '0.1',
      request: { prompt: 'a boat' },
      submit_reply: {},
      receipt: { cost: '0.1' },
      callback: null,
      may: { cancel: false, delete: true, redrive: false, resend: false },
    })
  })

  it('get-video 200: a reply that nests too deep to be written is shown as a string', async () => {
    const { jobId } = await settledJob(engine.table, tenant, { bill: '0.1' })
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    await engine.table.updateItem({
      Key: tableKeys.job(tenant.tenantId, jobId),
      UpdateExpression: 'SET submitText = :deep, pollText = :shallow',
      ExpressionAttributeValues: { ':deep': deep, ':shallow': '[[1]]' },
    })
    const { status, body } = await read(url(jobId), { tenant: tenant.tenantId })
    expect([status, body.submit_reply, body.poll_reply]).toEqual([200, deep, [[1]]])
  })

  it('get-video 200: signs a url that ends within the hour', async () => {
    const { jobId } = await settledJob(engine.table, tenant, { bill: '0.1' })
    const { body } = await read(url(jobId), { tenant: tenant.tenantId })
    const until = Number(new URL(String(body.video_url)).searchParams.get('until'))
    expect(until - Date.now() / 1000).toBeLessThanOrEqual(3_600)
  })

  it('get-video 200: viewers and API keys may change nothing', async () => {
    const { jobId } = await reserveJob(engine.table, tenant)
    const none = { cancel: false, delete: false, redrive: false, resend: false }
    const asked = { tenant: tenant.tenantId }
    expect((await read(url(jobId), asked, { role: 'viewer' })).body).toMatchObject({ may: none })
    expect((await read(url(jobId), {}, keyOf(tenant.tenantId))).body).toMatchObject({ may: none, failure_cause: null })
    expect((await read(url(jobId), asked)).body).toMatchObject({
      may: { ...none, cancel: true, delete: true },
    })
  })

  it('get-video 200: the url of a job that expires within the hour ends with the job', async () => {
    const { jobId } = await settledJob(engine.table, tenant, { bill: '0.1' })
    const expiresAt = Math.trunc(Date.now() / 1000) + 600
    await engine.table.updateItem({
      Key: tableKeys.job(tenant.tenantId, jobId),
      UpdateExpression: 'SET expiresAt = :end',
      ExpressionAttributeValues: { ':end': expiresAt },
    })
    const { body } = await read(url(jobId), { tenant: tenant.tenantId })
    expect(new URL(String(body.video_url)).searchParams.get('until')).toBe(String(expiresAt))
  })

  it('get-video 200: why a job failed, in the words of upstreams, is shown to viewers and not to API keys', async () => {
    const { jobId } = await reserveJob(engine.table, tenant)
    await engine.table.updateItem({
      Key: tableKeys.job(tenant.tenantId, jobId),
      UpdateExpression: 'SET failureCause = :cause',
      ExpressionAttributeValues: { ':cause': 'p1-main: InternalError' },
    })
    const { body } = await read(url(jobId), { tenant: tenant.tenantId }, { role: 'viewer' })
    expect(body.failure_cause).toBe('p1-main: InternalError')
    expect((await read(url(jobId), {}, keyOf(tenant.tenantId))).body.failure_cause).toBeNull()
  })

  it('get-video 200: an owner may redrive an open job whose execution is missing or broken, or cannot be read', async () => {
    const { jobId } = await reserveJob(engine.table, tenant)
    const ended = await settledJob(engine.table, tenant, { bill: '0.1' })
    const mayRedrive = async (id: string, describeExecution: ReadContext['describeExecution']) => {
      const { body } = await readRig(engine.table, { describeExecution })(url(id), { tenant: tenant.tenantId })
      return Object(body.may).redrive
    }
    for (const [state, may] of [
      ['running', false],
      ['missing', true],
      ['broken', true],
      ['ended', true],
    ] as const) {
      expect([state, await mayRedrive(jobId, async () => state)]).toEqual([state, may])
    }
    expect(await mayRedrive(jobId, () => Promise.reject(new Error('throttled')))).toBe(true)
    expect(await mayRedrive(ended.jobId, async () => 'ended')).toBe(false)
  })

  it('get-video 404: another tenant, an unknown id, no id; get-video 403: a key of another tenant', async () => {
    const { jobId } = await reserveJob(engine.table, tenant)
    const other = await openTenant(engine.table)
    expect((await read(url(jobId), { tenant: other.tenantId })).status).toBe(404)
    expect((await read(url(uuidv7()), { tenant: tenant.tenantId })).status).toBe(404)
    expect((await read(url('nothing'), { tenant: tenant.tenantId })).status).toBe(404)
    expect((await read(url(jobId), {}, keyOf(other.tenantId))).status).toBe(404)
    expect((await read(url(jobId), { tenant: tenant.tenantId }, keyOf(other.tenantId))).status).toBe(403)
  })
})

const ACME = { id: 'acme', name: 'Acme' }
const CREATED = 1_795_000_000

describe('videoRow', () => {
  it('shows a queued job with nulls for what is not known yet', () => {
    const job = videoJobRecord({ createdAt: CREATED })
    expect(videoRow(job, ACME, CREATED + 1)).toMatchObject({
      ...{ tenant: ACME, status: 'queued', created_at: CREATED, ended_at: null, duration: null, resolution: null },
      ...{ channel: null, cost: null, estimate: '0.7', percent: null, error: null },
    })
  })

  it('shows length and resolution as asked for until the video is stored', () => {
    const timing = { className: 'upstream#model#5#720P' }
    const job = videoJobRecord({ createdAt: CREATED, status: 'processing', timing, channelId: 'p2' })
    expect(videoRow(job, ACME, CREATED)).toMatchObject({ duration: 5, resolution: '720P', channel: 'p2' })
    expect(videoRow({ ...job, storedDurationSeconds: '5.04' }, ACME, CREATED)).toMatchObject({ duration: 5.04 })
    expect(videoRow({ ...job, storedDurationSeconds: '' }, ACME, CREATED)).toMatchObject({ duration: 5 })
  })

  it('shows the bill of a job that succeeded, and no cost for a job that failed', () => {
    const end = { createdAt: CREATED, endedAt: CREATED + 9 }
    const done = videoJobRecord({ ...end, status: 'succeeded', billed: microcredits(100_000) })
    expect(videoRow(done, ACME, CREATED + 9)).toMatchObject({ cost: '0.1', percent: 100, ended_at: CREATED + 9 })
    const failed = videoJobRecord({ ...end, status: 'failed', error: 'refused' })
    expect(videoRow(failed, ACME, CREATED + 9)).toMatchObject({ cost: '0', percent: null, error: 'refused' })
  })
})

const URL_WITH_SECRET = 'https://hooks.example.com:8443/in?token=secret'
const attempt = (number: number) => ({ at: 10 + number, attempt: number, milliseconds: 5, delivered: false })
const job = (changes: Partial<VideoJob> = {}) =>
  videoJobRecord({ status: 'succeeded', callbackUrl: URL_WITH_SECRET, callbackAttempts: [attempt(1)], ...changes })

describe('callback-attempts', () => {
  it('shows the host of the url alone, and every attempt', () => {
    expect(callbackOf(job())).toEqual({
      url_host: 'hooks.example.com:8443',
      attempts: [{ at: 11, attempt: 1, status: null, milliseconds: 5, error: null, delivered: false }],
      may_resend: true,
    })
    expect(callbackOf(job({ callbackUrl: undefined }))).toBeNull()
  })

  it('lists attempts newest first, and none of a job without a url', () => {
    const rows = attemptRows(job({ callbackAttempts: [attempt(1), { ...attempt(2), status: 200, delivered: true }] }))
    expect(rows.map(({ attempt: number, status }) => [number, status])).toEqual([
      [2, 200],
      [1, null],
    ])
    expect(attemptRows(job({ callbackUrl: undefined }))).toEqual([])
  })

  it('permits a resend after the end, ten times', () => {
    expect(mayResend(job({ status: 'processing' }))).toBe(false)
    expect(mayResend(job({ callbackUrl: undefined }))).toBe(false)
    expect(mayResend(job({ callbackResends: 9 }))).toBe(true)
    expect(mayResend(job({ callbackResends: 10 }))).toBe(false)
  })
})
