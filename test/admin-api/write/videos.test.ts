import { beforeEach, describe, expect, it } from '@jest/globals'
import { endFailedJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { startRecovery } from '../../engines/start-engines.ts'
import { startCallbackReceiver } from '../../engines/test-servers.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { type WriteRig, writeCaller } from './write-rig.ts'

const UNKNOWN_JOB = '01980000-0000-7000-8000-000000000000'

const recovery = useOpened(startRecovery)
let pipeline: Pipeline
let call: WriteRig['call']
beforeEach(async () => {
  pipeline = await recovery.openPipeline()
  const { table, openBucket, nowMilliseconds } = pipeline.context
  call = writeCaller(table, { openBucket, nowMilliseconds })
})

type Job = { readonly tenantId: string; readonly jobId: string }

const act = ({ tenantId, jobId }: Job, method: string, path = '') =>
  call(method, `/videos/${jobId}${path}`, { query: { tenant: tenantId } })
const audit = async ({ jobId }: Job) =>
  (await readAudit(pipeline.context.table, { limit: 9, targets: [jobId] })).entries.map(({ action, actor }) => [
    action,
    actor,
  ])

describe('cancel-video', () => {
  it('cancel-video 200: ends the job and releases its reservation, once, and records who did it', async () => {
    recovery.useMachine(pipeline)
    const job = await pipeline.create()
    const responses = [await act(job, 'POST', '/cancellation'), await act(job, 'POST', '/cancellation')]
    expect(responses).toMatchObject([
      { status: 200, body: { object: 'video.cancellation', id: job.jobId, status: 'failed', changed: true } },
      { status: 200, body: { changed: false } },
    ])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'cancelled by the operator' })
    expect(await audit(job)).toEqual([['job cancel', 'ada@host']])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('cancel-video 409: a job that has ended otherwise stays as it is', async () => {
    const machine = recovery.useMachine(pipeline)
    const job = await pipeline.create()
    await machine.run(job)
    const refused = await act(job, 'POST', '/cancellation')
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'job_ended' } } })
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await audit(job)).toEqual([])
  })
})

describe('redrive-video', () => {
  it('redrive-video 200: starts an execution that is missing; redrive-video 409: there is nothing left to do', async () => {
    const { engine } = recovery.useMachine(pipeline)
    const job = await pipeline.create()
    const started = await act(job, 'POST', '/redrive')
    expect(started).toMatchObject({
      status: 200,
      body: { object: 'video.redrive', execution: job.jobId, replaced: 'missing' },
    })
    await engine.whenEnded(job.jobId)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    const refused = await act(job, 'POST', '/redrive')
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'redrive_refused' } } })
    expect(await audit(job)).toEqual([['job redrive', 'ada@host']])
  })
})

describe('delete-video', () => {
  it('delete-video 204: hides the job and deletes its video; delete-video 404: a second time', async () => {
    const machine = recovery.useMachine(pipeline)
    const job = await pipeline.create()
    await machine.run(job)
    expect(await act(job, 'DELETE')).toEqual({ status: 204, body: undefined })
    expect(await getVideoJob(pipeline.context.table, job.tenantId, job.jobId)).toMatchObject({ isDeleted: true })
    expect(await act(job, 'DELETE')).toMatchObject({ status: 404 })
    expect(await audit(job)).toEqual([['job delete', 'ada@host']])
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('resend-callback', () => {
  it('resend-callback 200: sends the callback of an ended job once more, and records its number; resend-callback 409: an open job', async () => {
    const receiver = await startCallbackReceiver(() => 200)
    const changes = await recovery.engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
    const { table, openBucket, nowMilliseconds, network, catalogue } = changes.context
    const guarded = network === undefined ? {} : { network }
    call = writeCaller(table, { openBucket, nowMilliseconds, catalogue, ...guarded })
    pipeline = changes
    const job = await changes.createAccepted({ callbackUrl: receiver.url })
    const open = await act(job, 'POST', '/callback')
    expect(open).toMatchObject({ status: 409, body: { error: { code: 'callback_refused' } } })
    await endFailedJob(job, changes.context, 'TaskGoneError')
    const sent = await act(job, 'POST', '/callback')
    expect(sent).toMatchObject({
      status: 200,
      body: { object: 'video.callback', id: job.jobId, attempt: 2, status: 200, delivered: true },
    })
    expect(receiver.received).toHaveLength(1)
    expect(await audit(job)).toEqual([['job callback', 'ada@host']])
    await receiver.stop()
  })
})

describe('operations on a video job', () => {
  it.each([
    ['cancel-video 404', 'POST', '/cancellation'],
    ['redrive-video 404', 'POST', '/redrive'],
    ['resend-callback 404', 'POST', '/callback'],
    ['delete-video 404', 'DELETE', ''],
  ])('%s: unknown, malformed and of another tenant; 400: without a tenant', async (_, method, path) => {
    const job = await pipeline.create()
    for (const named of [
      { ...job, tenantId: 'other' },
      { ...job, tenantId: '__proto__' },
      { ...job, jobId: UNKNOWN_JOB },
      { ...job, jobId: '..%2F..' },
      { ...job, jobId: `${job.jobId}%00` },
    ]) {
      expect(await act(named, method, path)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    }
    const unnamed = await call(method, `/videos/${job.jobId}${path}`)
    expect(unnamed).toMatchObject({ status: 400, body: { error: { param: 'tenant' } } })
    expect((await pipeline.read(job)).status).not.toBe('failed')
    expect(await audit(job)).toEqual([])
  })
})
