import { DescribeExecutionCommand, ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { markDeleted } from '#adapters/store/jobs/job-deletion.ts'
import { recordFailure } from '#adapters/store/jobs/job-progress.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { recordReferenceRefused } from '#adapters/store/jobs/reference-check.ts'
import { claimSubmit, recordAccepted, recordWaitingForChannel } from '#adapters/store/jobs/submission.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { requireVideoJob } from '#lambdas/pipeline/require-job.ts'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { jobFind, jobShow, jobTimeline } from '../../../lib/admin/jobs/job-commands.ts'
import { jobList } from '../../../lib/admin/jobs/job-list.ts'
import { jobCancel, jobRedrive } from '../../../lib/admin/jobs/job-repair-commands.ts'
import { captureTelemetry } from '../../engines/counted-facts.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { openTenant, requireReservation, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

let engine: TestTable
let table: Table
let tenant: TestTenant
beforeAll(async () => {
  engine = await startTestTable()
  captureTelemetry()
  process.env.AWS_REGION = 'us-east-1'
  mockClient(SFNClient)
    .on(DescribeExecutionCommand)
    .rejects(new ExecutionDoesNotExist({ message: '', $metadata: {} }))
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table)
})
afterAll(() => engine.close())

const SECRET_URL = 'https://hooks.example/secret'
const outputs = { StateMachineArn: LOCAL_STATE_MACHINE_ARN, BucketName: 'videos' }

async function failedJob() {
  const job = await reserveJob(table, tenant, {
    callbackUrl: SECRET_URL,
    request: { inline: '{"prompt":"a secret"}' },
    requestId: 'request-1',
  })
  await claimSubmit(table, {
    job,
    channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
    nowSeconds: job.createdAt,
  })
  await recordAccepted(table, job, { taskId: 'task-7', submitText: { inline: '{"secret":1}' } })
  await recordFailure(table, job, { failure: 'no', cause: `HTTP 401 at ${SECRET_URL}` })
  const processing = await getVideoJob(table, job.tenantId, job.jobId)
  if (processing === undefined) {
    throw new Error('no job')
  }
  await resolveReservation(table, {
    job: processing,
    reservation: await requireReservation(table, job),
    resolution: { kind: 'release', error: `cannot read ${SECRET_URL}?a=b of yours` },
    nowMilliseconds: job.createdAt * 1000 + 2_000,
  })
  return job
}

describe('a job', () => {
  it('is found by its id alone among more tenants than one request holds', async () => {
    const job = await reserveJob(table, tenant)
    const others = Array.from({ length: 105 }, (_, index) => tableKeys.tenant(`other-${index}`))
    await Promise.all(
      others.map((key) =>
        table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, name: '', webhookSecret: '' } })),
      ),
    )
    const { json } = await runCommand(jobFind, { table, options: { job: job.jobId } })
    expect(json).toMatchObject({ id: job.jobId, tenant: tenant.tenantId, status: 'queued', deleted: false })
  })

  it('that nobody has, or that is no job id, is said to be so', async () => {
    const unknown = '0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'
    await expect(runCommand(jobFind, { table, options: { job: unknown } })).rejects.toThrow(
      `none of the 1 tenants has a job ${unknown}; records are kept 30 days`,
    )
    await expect(runCommand(jobShow, { table, options: { job: unknown, tenant: tenant.tenantId } })).rejects.toThrow(
      `tenant ${tenant.tenantId} has no job ${unknown}`,
    )
    await expect(runCommand(jobFind, { table, options: { job: 'x' } })).rejects.toThrow(
      'a job id is a UUID in lower case',
    )
  })

  it('is shown with its channel, task, times and money, and never with its prompt or a url', async () => {
    const job = await failedJob()
    const { json, text } = await runCommand(jobShow, { table, options: { job: job.jobId } })
    expect(json).toEqual({
      id: job.jobId,
      tenant: tenant.tenantId,
      status: 'failed',
      deleted: false,
      model: job.model,
      channel: 'main',
      created_at: new Date(job.createdAt * 1000).toISOString(),
      error: 'cannot read <url> of yours',
      cause: 'HTTP 401 at <url>',
      request_id: 'request-1',
      upstream_task: 'task-7',
      submit: 'accepted',
      waiting_for_channel: false,
      expires_at: new Date(job.expiresAt * 1000).toISOString(),
      submitted_at: new Date(job.createdAt * 1000).toISOString(),
      finished_upstream_at: null,
      ended_at: new Date(job.createdAt * 1000 + 2_000).toISOString(),
      stored: false,
      duration_secs: null,
      callback: 'not sent',
      reservation: { state: 'released', amount: '0.7', actual: '0', restarts: 0 },
      ledger: [
        { kind: 'reserve', job: job.jobId, amount: '0.7', actual: null, at: expect.any(String) },
        { kind: 'release', job: job.jobId, amount: '0.7', actual: null, at: expect.any(String) },
      ],
    })
    for (const shown of [JSON.stringify(json), text]) {
      expect(shown).not.toMatch(/secret|https:/)
    }
  })

  it('that failed for a reference is shown with its place, without the name that its client gave to the file', async () => {
    const { tenantId, jobId, createdAt } = await reserveJob(table, tenant)
    const job = await requireVideoJob(table, { tenantId, jobId })
    const error = 'image_urls[2] (sk-live-12345.png) has 9x9 pixels; the shorter side needs 300'
    await recordReferenceRefused(table, job, error)
    const reservation = await requireReservation(table, job)
    const show = async () => Object((await runCommand(jobShow, { table, options: { job: job.jobId } })).json).error
    expect(await show()).toBe('image_urls[2] has 9x9 pixels; the shorter side needs 300')
    const nowMilliseconds = createdAt * 1000 + 2_000
    await resolveReservation(table, { job, reservation, resolution: { kind: 'release', error }, nowMilliseconds })
    expect(await show()).toBe('image_urls[2] has 9x9 pixels; the shorter side needs 300')
    for (const command of [jobFind, jobTimeline, jobCancel]) {
      const { json, text } = await runCommand(command, { table, outputs, options: { job: job.jobId } })
      expect(`${JSON.stringify(json)} ${text}`).not.toContain('sk-live')
    }
  })

  it('has a timeline in order, though no execution is remembered', async () => {
    const job = await failedJob()
    const { json, text } = await runCommand(jobTimeline, { table, outputs, options: { job: job.jobId } })
    const { timeline } = Object(json)
    expect(timeline.map(({ event }: { event: string }) => event)).toEqual([
      'created',
      'reserved 0.7',
      'claimed for channel main',
      'released: cannot read <url> of yours',
    ])
    expect(timeline.map(({ at }: { at: string }) => /\.\d{3}Z$/.test(at))).toEqual([true, true, false, true])
    expect(text).not.toContain('secret')
  })

  it('is listed newest first, by status, to a limit, with a mark when it is deleted', async () => {
    const failed = await failedJob()
    const now = Math.trunc(Date.now() / 1000)
    const open = await reserveJob(table, tenant, { createdAt: now + 10 })
    const deleted = await reserveJob(table, tenant, { createdAt: now + 20 })
    await markDeleted(table, deleted, Date.now())
    const list = async (options: Record<string, string>) => {
      const { json } = await runCommand(jobList, { table, options: { tenant: tenant.tenantId, ...options } })
      return Object(json).jobs.map(({ id }: { id: string }) => id)
    }
    expect(await list({})).toEqual([deleted.jobId, open.jobId, failed.jobId])
    expect(await list({ status: 'failed' })).toEqual([failed.jobId])
    expect(await list({ limit: '1' })).toEqual([deleted.jobId])
    const { text } = await runCommand(jobList, { table, options: { tenant: tenant.tenantId } })
    expect(text).toContain('queued (deleted)')
    expect(text).toMatch(/ ERROR +CAUSE\n/)
    expect(text).toMatch(/ cannot read <url> of yours +HTTP 401 at <url>\n?/)
    await expect(list({ status: 'expired' })).rejects.toThrow('--status expired: use queued')
    await expect(runCommand(jobList, { table, options: { tenant: 'nobody' } })).rejects.toThrow('no tenant nobody')
  })

  it('that is open is listed among those of all tenants, oldest first, with its age', async () => {
    const now = Math.trunc(Date.now() / 1000)
    const other = await openTenant(table)
    await failedJob()
    const young = await reserveJob(table, tenant, { createdAt: now - 60 })
    const old = await reserveJob(table, other, { createdAt: now - 7_200 })
    const list = async (options: Record<string, string | true>) => {
      const { json } = await runCommand(jobList, { table, options: { open: true, ...options } })
      return Object(json).jobs
    }
    expect(await list({})).toMatchObject([
      { id: old.jobId, tenant: other.tenantId, status: 'queued', channel: null },
      { id: young.jobId, tenant: tenant.tenantId },
    ])
    await recordWaitingForChannel(table, old, 'main: ECONNREFUSED; spare: HTTP 401')
    expect((await list({}))[0]).toMatchObject({ error: null, cause: 'main: ECONNREFUSED; spare: HTTP 401' })
    expect((await runCommand(jobList, { table, options: { open: true } })).text).toContain('main: ECONNREFUSED')
    expect((await list({}))[0].age_seconds).toBeGreaterThanOrEqual(7_199)
    expect(await list({ limit: '1' })).toMatchObject([{ id: old.jobId }])
    expect(await list({ tenant: tenant.tenantId })).toMatchObject([{ id: young.jobId }])
    await expect(list({ tenant: 'nobody' })).rejects.toThrow('no tenant nobody')
    await expect(list({ status: 'queued' })).rejects.toThrow('--open and --status: use one of them')
    await expect(runCommand(jobList, { table, options: {} })).rejects.toThrow('--tenant is missing')
  })
})

describe('job cancel', () => {
  it('asks first, says what will be lost, and changes nothing without a yes', async () => {
    const job = await reserveJob(table, tenant)
    const asked: string[] = []
    const confirm = async (sentence: string) => {
      asked.push(sentence)
      throw new Error('no')
    }
    await expect(runCommand(jobCancel, { table, outputs, confirm, options: { job: job.jobId } })).rejects.toThrow('no')
    expect(asked).toEqual([
      `Job ${job.jobId} of tenant ${tenant.tenantId} is queued and no upstream has it. It will fail and its reservation will be given back`,
    ])
    expect((await requireReservation(table, job)).state).toBe('held')
  })

  it('answers what became of the job, and that a second time changes nothing', async () => {
    const job = await reserveJob(table, tenant)
    const cancel = () => runCommand(jobCancel, { table, outputs, options: { job: job.jobId } })
    const expected = { id: job.jobId, tenant: tenant.tenantId, status: 'failed', error: 'cancelled by the operator' }
    expect(await cancel()).toMatchObject({ json: { ...expected, changed: true }, isOk: true })
    expect(await cancel()).toMatchObject({ json: { ...expected, changed: false }, isOk: true })
  })

  it('of a job that ended otherwise asks nothing, changes nothing and is not ok', async () => {
    const job = await failedJob()
    const confirm = () => Promise.reject(new Error('asked'))
    const answer = await runCommand(jobCancel, { table, outputs, confirm, options: { job: job.jobId } })
    expect(answer).toMatchObject({ json: { status: 'failed', changed: false }, isOk: false })
    expect(answer.text).toBe(`job ${job.jobId} had ended before: failed; nothing was changed`)
  })
})

describe('job redrive', () => {
  it('refuses a job that has ended', async () => {
    const job = await failedJob()
    await expect(runCommand(jobRedrive, { table, outputs, options: { job: job.jobId } })).rejects.toThrow(
      'there is nothing left to do',
    )
  })
})
