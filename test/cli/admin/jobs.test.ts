import { DescribeExecutionCommand, ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { recordReferenceRefused } from '#store/jobs/job-progress.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import {
  describeJob,
  findJob,
  jobCancel,
  jobFind,
  jobRedrive,
  jobRow,
  jobShow,
  jobTimeline,
} from '../../../lib/cli/admin/jobs.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import {
  openTenant,
  requireReservation,
  reserveJob,
  type TestTenant,
  videoJobRecord,
} from '../../engines/video-jobs.ts'
import { failedJob } from './failed-job.ts'
import { runCommand } from './run-command.ts'

describe('job commands', () => {
  const engine = useTestTable()
  let table: TableWithClient
  let tenant: TestTenant
  beforeAll(async () => {
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

  const outputs = { StateMachineArn: LOCAL_STATE_MACHINE_ARN, BucketName: 'videos' }

  it('job show has the channel, task, times and money, and never the prompt or a url', async () => {
    const job = await failedJob(table, tenant)
    const { json, text } = await runCommand(jobShow, { table, options: { job: job.jobId } })
    expect(json).toEqual({
      id: job.jobId,
      tenant: tenant.tenantId,
      status: 'failed',
      cancelled: false,
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
        expect.objectContaining({ kind: 'reserve', job: job.jobId, amount: '0.7', actual: null }),
        expect.objectContaining({ kind: 'release', job: job.jobId, amount: '0.7', actual: null }),
      ],
    })
    for (const shown of [JSON.stringify(json), text]) {
      expect(shown).not.toMatch(/secret|https:/)
    }
  })

  it('show the place of a refused reference, without the name that its client gave to the file', async () => {
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

  it('job timeline is in order, though no execution is remembered', async () => {
    const job = await failedJob(table, tenant)
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
})

describe('job repair commands', () => {
  const engine = useTestTable()
  let table: Table
  let tenant: TestTenant
  beforeAll(async () => {
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

  const outputs = { StateMachineArn: LOCAL_STATE_MACHINE_ARN, BucketName: 'videos' }

  describe('job-repair-commands: job cancel', () => {
    it('asks first, says what will be lost, and changes nothing without a yes', async () => {
      const job = await reserveJob(table, tenant)
      const asked: string[] = []
      const confirm = async (sentence: string) => {
        asked.push(sentence)
        throw new Error('no')
      }
      await expect(runCommand(jobCancel, { table, outputs, confirm, options: { job: job.jobId } })).rejects.toThrow(
        'no',
      )
      expect(asked).toEqual([
        `Job ${job.jobId} of tenant ${tenant.tenantId} is queued and no upstream has it. It will fail and its reservation will be released`,
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

    it('is recorded once, in the transaction that ends the job', async () => {
      const job = await reserveJob(table, tenant)
      const cancel = () => runCommand(jobCancel, { table, outputs, options: { job: job.jobId } })
      await Promise.all([cancel(), cancel()])
      await cancel()
      const { entries } = await readAudit(table, { limit: 10, targets: [job.jobId] })
      expect(entries).toMatchObject([
        {
          actor: 'tester@test',
          action: 'job cancel',
          kind: 'job',
          tenant: tenant.tenantId,
          before: { status: 'queued' },
          after: { status: 'failed' },
        },
      ])
    })

    it('of a job that ended otherwise asks nothing, changes nothing and is not ok', async () => {
      const job = await failedJob(table, tenant)
      const confirm = () => Promise.reject(new Error('asked'))
      const answer = await runCommand(jobCancel, { table, outputs, confirm, options: { job: job.jobId } })
      expect(answer).toMatchObject({ json: { status: 'failed', changed: false }, isOk: false })
      expect(answer.text).toBe(`job ${job.jobId} had already ended: failed; nothing was changed`)
    })
  })

  describe('job-repair-commands: job redrive', () => {
    it('refuses a job that has ended', async () => {
      const job = await failedJob(table, tenant)
      await expect(runCommand(jobRedrive, { table, outputs, options: { job: job.jobId } })).rejects.toThrow(
        'there is nothing left to do',
      )
    })
  })
})

describe('findJob', () => {
  const engine = useTestTable()
  let table: TableWithClient
  let tenant: TestTenant
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openTenant(table)
  })

  it('finds a job by its id alone, among more tenants than one request holds', async () => {
    const { jobId } = await reserveJob(table, tenant)
    // Their ids sort before that of the tenant, whose job is therefore in the second request.
    const others = Array.from({ length: 105 }, (_, index) => tableKeys.tenant(`0000-${index}`))
    await Promise.all(
      others.map((key) =>
        table.client.send(
          new PutCommand({ TableName: table.name, Item: { ...key, name: '', webhookSecret: '', createdAt: 1 } }),
        ),
      ),
    )
    expect(await findJob(table, jobId, undefined)).toMatchObject({ jobId, tenantId: tenant.tenantId })
  })

  it('finds a job of the named tenant only', async () => {
    const { jobId } = await reserveJob(table, tenant)
    const { tenantId } = await openTenant(table)
    expect(await findJob(table, jobId, tenant.tenantId)).toMatchObject({ jobId })
    await expect(findJob(table, jobId, tenantId)).rejects.toThrow(`tenant ${tenantId} has no job ${jobId}`)
  })

  it('says how many tenants it has asked, and how long records are kept', async () => {
    const unknown = '0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'
    await expect(findJob(table, unknown, undefined)).rejects.toThrow(
      `none of the 1 tenants has a job ${unknown}; records are kept 30 days`,
    )
  })

  it('refuses what is no job id', async () => {
    await expect(findJob(table, 'x', undefined)).rejects.toThrow(UsageError)
  })
})

const job = videoJobRecord({ createdAt: 1_900_000_000 })

describe('jobRow', () => {
  it('has null for what has not happened yet', () => {
    expect(jobRow(job)).toMatchObject({
      ...{ id: job.jobId, tenant: job.tenantId, status: 'queued', deleted: false },
      ...{ channel: null, error: null, cause: null, created_at: '2030-03-17T17:46:40.000Z' },
    })
  })

  it('has the failure until the job has its error, and the cause of a wait, without urls', () => {
    expect(jobRow({ ...job, failure: 'no', failureCause: 'HTTP 401 at https://a/b' })).toMatchObject({
      error: 'no',
      cause: 'HTTP 401 at <url>',
    })
    expect(jobRow({ ...job, failure: 'no', error: 'refused at https://a/b' })).toMatchObject({
      error: 'refused at <url>',
    })
  })
})

describe('describeJob', () => {
  it.each([
    [{}, 'none'],
    [{ callbackUrl: 'https://hooks.example/secret' }, 'not sent'],
    [{ callbackUrl: 'https://hooks.example/secret', callbackState: 'sent' as const }, 'sent'],
  ])('of %j says whether the callback was sent, and never its url', (more, callback) => {
    const described = describeJob({ ...job, ...more }, undefined, [])
    expect(described).toMatchObject({ callback, reservation: null, stored: false, ended_at: null })
    expect(JSON.stringify(described)).not.toContain('secret')
  })

  it('ends when its money was resolved', () => {
    const at = '2030-03-17T17:47:00.000Z'
    const entry = (kind: 'reserve' | 'settle') => ({ kind, job: job.jobId, amount: '0.7', actual: null, at })
    expect(describeJob(job, undefined, [entry('reserve')]).ended_at).toBeNull()
    expect(describeJob(job, undefined, [entry('settle'), entry('reserve')]).ended_at).toBe(at)
  })
})
