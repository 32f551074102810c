import { DescribeExecutionCommand, ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { recordReferenceRefused } from '#store/jobs/job-progress.ts'
import { jobCancel, jobFind, jobShow, jobTimeline } from '../../../lib/cli/admin/jobs.ts'
import { captureTelemetry } from '../../engines/counted-facts.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { openTenant, requireReservation, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'
import { failedJob } from './failed-job.ts'

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

describe('job-commands', () => {
  it('job show has the channel, task, times and money, and never the prompt or a url', async () => {
    const job = await failedJob(table, tenant)
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
