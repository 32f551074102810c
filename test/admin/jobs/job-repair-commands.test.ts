import { DescribeExecutionCommand, ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import { jobCancel, jobRedrive } from '../../../lib/cli/admin/jobs.ts'
import { captureTelemetry } from '../../engines/counted-facts.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant, requireReservation, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'
import { failedJob } from './failed-job.ts'

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
    await expect(runCommand(jobCancel, { table, outputs, confirm, options: { job: job.jobId } })).rejects.toThrow('no')
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
