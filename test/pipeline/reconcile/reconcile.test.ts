import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { summarize } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { ReservationAges } from '#lambdas/pipeline/reconcile/reconcile-job.ts'
import { recountChannels } from '#lambdas/pipeline/reconcile/recount-channels.ts'
import { failVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { putText } from '#store/bucket/bucket.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { readChannelCount, setChannelCount } from '#store/jobs/channels.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { NEAR_BUDGETS_KEY, nearBudgetsOf, readSummary } from '#store/summary.ts'
import { dueSortKey, type JobKey, openShard, tableKeys } from '#store/table/table-keys.ts'
import { captureMetrics, captureTelemetry } from '../../engines/emitted-metrics.ts'
import type { Pipeline } from '../../engines/pipeline.ts'
import { type Recovery, startEngines, startRecovery } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, requireReservation } from '../../engines/video-jobs.ts'

describe('reconcile', () => {
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

describe('ReservationAges: the ages of open reservations', () => {
  const NOW = 1_795_000_000_000
  const jobOf = (ageSeconds: number) => ({ tenantId: 't', jobId: uuidv7({ msecs: NOW - ageSeconds * 1000 }) })

  let metrics: ReturnType<typeof captureMetrics>
  beforeAll(() => {
    metrics = captureMetrics()
  })

  /** What a run that came by these measures, and what it passed on. */
  async function measured(items: readonly JobKey[], requestAges: readonly number[] = []) {
    async function* list() {
      yield* items
    }
    const count = metrics.emitted().length
    const ages = new ReservationAges(NOW)
    const passed: JobKey[] = []
    for await (const item of ages.watch(list())) {
      passed.push(item)
    }
    for (const age of requestAges) {
      ages.addRequest(NOW - age * 1000)
    }
    ages.measure()
    expect(passed).toEqual(items)
    return Object.fromEntries(
      metrics
        .emitted()
        .slice(count)
        .map(({ name, value }) => [name, value]),
    )
  }

  it('are those of the oldest job, by its id, and of the oldest request of a hold', async () => {
    expect(await measured([jobOf(60), jobOf(7200), jobOf(5)], [961, 960])).toEqual({
      oldest_open_job_seconds: 7200,
      oldest_open_request_seconds: 961,
    })
  })

  it('are measured of what a run came by, and of nothing else', async () => {
    expect(await measured([jobOf(60)])).toEqual({ oldest_open_job_seconds: 60 })
    expect(await measured([])).toEqual({})
  })

  it('are never below nothing, though clocks differ', async () => {
    expect(await measured([jobOf(-3)])).toEqual({ oldest_open_job_seconds: 0 })
  })
})

describe('summarize', () => {
  const telemetry = captureTelemetry()
  const engine = useTestTable()
  beforeEach(() => telemetry.reset())
  afterEach(() => {
    delete process.env.CONSOLE_SUMMARY
  })

  const hasTime = () => true

  it('writes nothing where the stage has no console, or the time of the run is over', async () => {
    const context = { table: engine.table, nowMilliseconds: Date.now }
    await summarize(context, { near: [], hasTime })
    process.env.CONSOLE_SUMMARY = 'stored'
    await summarize(context, { near: [], hasTime: () => false })
    expect(await readSummary(engine.table)).toBeUndefined()
    expect(telemetry.counted()).toEqual(['summary_not_written'])
  })

  it('writes the summary of all tenants', async () => {
    process.env.CONSOLE_SUMMARY = 'stored'
    const { tenantId } = await openTenant(engine.table)
    await summarize({ table: engine.table, nowMilliseconds: Date.now }, { near: undefined, hasTime })
    expect((await readSummary(engine.table))?.tenants.map(({ id }) => id)).toEqual([tenantId])
  })

  it('lists the budgets of keys that are nearly spent, also where pages make the summary themselves', async () => {
    process.env.CONSOLE_SUMMARY = 'live'
    const table = await engine.fresh()
    const near = [{ tenantId: 'acme', budgetId: 'k1', percent: 93 }]
    await summarize({ table, nowMilliseconds: Date.now }, { near, hasTime })
    await summarize({ table, nowMilliseconds: Date.now }, { near: undefined, hasTime })
    expect(nearBudgetsOf(await table.readItem(NEAR_BUDGETS_KEY))).toEqual(near)
    expect(await readSummary(table)).toBeUndefined()
  })

  it('never fails a run, and counts that the summary was not written', async () => {
    process.env.CONSOLE_SUMMARY = 'stored'
    const table = { ...engine.table, queryPage: () => Promise.reject(new Error('no table')) }
    await expect(summarize({ table, nowMilliseconds: Date.now }, { near: [], hasTime })).resolves.toBeUndefined()
    expect(telemetry.counted()).toEqual(['summary_not_written'])
  })
})

describe('recountChannels', () => {
  const engines = useOpened(startEngines)

  it('mends nothing by half a count: out of time, it says so and leaves every count as it is', async () => {
    const pipeline = await engines.pipeline()
    const { table } = pipeline.context
    for (const _ of ['one', 'two']) {
      const job = await pipeline.create()
      const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
      await claimSubmit(table, { job, channel, nowSeconds: job.createdAt })
    }
    expect(await setChannelCount(table, 'main', { open: 7, version: 2 })).toBe(true)
    let reads = 0
    const hasTimeForOne = () => {
      reads += 1
      return reads === 1
    }
    await expect(recountChannels(pipeline.context, hasTimeForOne)).rejects.toMatchObject({
      name: 'RecountUnfinishedError',
    })
    expect(await readChannelCount(table, 'main')).toMatchObject({ open: 7 })
    await recountChannels(pipeline.context, () => true)
    expect(await readChannelCount(table, 'main')).toMatchObject({ open: 2 })
  })

  it('mends nothing by a count that a second one does not confirm: the index lags', async () => {
    const pipeline = await engines.pipeline()
    const { table } = pipeline.context
    const job = await pipeline.create()
    const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
    await claimSubmit(table, { job, channel, nowSeconds: job.createdAt })
    expect(await setChannelCount(table, 'main', { open: 2, version: 1 })).toBe(true)
    let pauses = 0
    const pause = async () => {
      pauses += 1
      // Between the two counts the job is seen elsewhere, without a move of the channel's own count.
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: tableKeys.job(job.tenantId, job.jobId),
          UpdateExpression: 'REMOVE channelId',
        }),
      )
    }
    await recountChannels({ ...pipeline.context, pause }, () => true)
    expect(pauses).toBe(1)
    expect(await readChannelCount(table, 'main')).toMatchObject({ open: 2 })
  })

  it('does not count a job that has ended and that the index still lists', async () => {
    const pipeline = await engines.pipeline()
    const { table } = pipeline.context
    const job = await pipeline.createAccepted()
    await failVideoJob(job, pipeline.context)
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.reservation(job.tenantId, job.jobId),
        UpdateExpression: 'SET GSI1PK = :shard, GSI1SK = :due',
        ExpressionAttributeValues: { ':shard': openShard(job.jobId), ':due': dueSortKey(pipeline.clock.milliseconds) },
      }),
    )
    await recountChannels(pipeline.context, () => true)
    expect(await readChannelCount(table, 'main')).toMatchObject({ open: 0 })
  })
})
