import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { putText } from '#store/bucket/bucket.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { readChannelCount } from '#store/jobs/channels.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { type Recovery, startRecovery } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { requireReservation } from '../../engines/video-jobs.ts'

const recovery = useOpened(startRecovery)
let pipeline: Pipeline
beforeEach(async () => {
  pipeline = await recovery.openPipeline()
})

const useMachine = (options?: Parameters<Recovery['useMachine']>[1]) => recovery.useMachine(pipeline, options)
const reconcileAfter = (seconds: number, all = false) => recovery.reconcileAfter(pipeline, seconds, { all })

/** Makes a record that no reader takes, as only a hand could write it. */
async function spoil({ tenantId, jobId }: { tenantId: string; jobId: string }): Promise<void> {
  const { table } = pipeline.context
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: tableKeys.job(tenantId, jobId),
      UpdateExpression: 'SET #status = :odd',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':odd': 'odd' },
    }),
  )
}

const MINUTE = 60

describe('reconcile', () => {
  it('looks at every open job at once when told to, as after a start of the local host', async () => {
    const machine = useMachine()
    const job = await pipeline.create()
    await reconcileAfter(0, true)
    await machine.engine.whenEnded(job.jobId)
    expect((await pipeline.read(job)).status).toBe('succeeded')
  })

  it.each([false, true])('goes on with the other jobs when one cannot be read (all: %s)', async (all) => {
    const machine = useMachine()
    const [good, bad] = [await pipeline.create(), await pipeline.create()]
    await spoil(bad)
    await reconcileAfter(MINUTE, all)
    await machine.engine.whenEnded(good.jobId)
    expect((await pipeline.read(good)).status).toBe('succeeded')
    expect((await requireReservation(pipeline.context.table, bad)).state).toBe('held')
  })

  it('tries again in the next run what Step Functions would not do in this one', async () => {
    const machine = useMachine()
    const job = await pipeline.create()
    recovery.executions.breakDown()
    await reconcileAfter(MINUTE)
    recovery.executions.use(machine)
    await reconcileAfter(MINUTE)
    await machine.engine.whenEnded(job.jobId)
    expect((await pipeline.read(job)).status).toBe('succeeded')
  })

  it('removes what a deleted, ended job left in the bucket', async () => {
    const machine = useMachine()
    const job = await pipeline.create()
    await machine.run(job)
    await markDeleted(pipeline.context.table, job, pipeline.clock.milliseconds)
    expect(await recovery.engines.bucket.keys(job.videoKey)).toEqual([job.videoKey])
    await reconcileAfter(1)
    expect(await recovery.engines.bucket.keys(job.videoKey)).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('leaves the file of a deleted job alone while its execution may still store', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = useMachine({ interpose: { Submit: () => release.promise } })
    const job = await pipeline.create()
    const ended = machine.run(job)
    await markDeleted(pipeline.context.table, job, pipeline.clock.milliseconds)
    await putText(recovery.engines.bucket.bucket, job.videoKey, 'arriving')
    await reconcileAfter(1)
    expect(await recovery.engines.bucket.keys(job.videoKey)).toEqual([job.videoKey])
    release.resolve({ step: 'done' })
    await ended
  })

  it('mends the open count of a channel that drifted, and leaves a right one alone', async () => {
    useMachine({ interpose: { Submit: async () => ({ step: 'done' }) } })
    const job = await pipeline.create()
    const { table } = pipeline.context
    await claimSubmit(table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    await claimSubmit(table, {
      job: await pipeline.create(),
      channel: { id: 'spare', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.channel('main'),
        UpdateExpression: 'SET #open = :seven',
        ExpressionAttributeNames: { '#open': 'open' },
        ExpressionAttributeValues: { ':seven': 7 },
      }),
    )
    await reconcileAfter(0, true)
    expect(await readChannelCount(table, 'main')).toMatchObject({ open: 1 })
    expect(await readChannelCount(table, 'spare')).toEqual({ open: 1, version: 1 })
    expect(recovery.engines.counted().filter((fact) => fact === 'channel_recounted')).toHaveLength(1)
  })

  it('leaves every count of open jobs as it is while a record cannot be read', async () => {
    useMachine({ interpose: { Submit: async () => ({ step: 'done' }) } })
    const { table } = pipeline.context
    const job = await pipeline.create()
    await claimSubmit(table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    await spoil(job)
    await reconcileAfter(0, true)
    expect(await readChannelCount(table, 'main')).toEqual({ open: 1, version: 1 })
  })
})
