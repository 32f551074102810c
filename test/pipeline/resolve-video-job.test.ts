import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { formatCredits } from '#core/money.ts'
import { endFailedJob, failVideoJob, resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { reportRefusedResult } from '#lambdas/pipeline/step-context.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { putText } from '#store/bucket/bucket.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { markCancelled } from '#store/jobs/cancel-and-delete.ts'
import { readFailedJobs } from '#store/jobs/failed-jobs.ts'
import { claimSubmit, recordFailure, recordPoll, recordStored } from '#store/jobs/job-progress.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { RELEASE, settle, TESTER, videoJobRecord } from '../engines/video-jobs.ts'
import { createVideoMachine } from '../engines/video-machine.ts'
import { captureLog } from '../middleware/api-exchange.ts'

describe('resolveVideoJob: a job', () => {
  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  beforeEach(async () => {
    engines.reset()
    pipeline = await engines.pipeline()
  })

  it('that another resolution came before keeps the first one and raises an alarm', async () => {
    const job = await pipeline.createAccepted()
    const { table } = pipeline.context
    await resolveVideoJob(job, pipeline.context, async (record, reservation) => {
      const nowMilliseconds = pipeline.clock.milliseconds
      await resolveReservation(table, { job: record, reservation, resolution: settle('0.1'), nowMilliseconds })
      return settle('0.5')
    })
    expect(await pipeline.spent()).toBe('0.1')
    expect(engines.counted()).toContain('resolution_conflict')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that changed since it was read is decided anew', async () => {
    const job = await pipeline.create()
    const seen: (string | undefined)[] = []
    await resolveVideoJob(job, pipeline.context, async (record) => {
      seen.push(record.channelId)
      if (seen.length === 1) {
        await claimSubmit(pipeline.context.table, {
          job,
          channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
          nowSeconds: 1,
        })
      }
      return RELEASE
    })
    expect(seen).toEqual([undefined, 'main'])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that keeps changing is given up after five tries, to be tried again as a whole', async () => {
    const job = await pipeline.create()
    let tries = 0
    const never = resolveVideoJob(job, pipeline.context, async () => {
      tries += 1
      return settle('0.5')
    })
    await expect(never).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(tries).toBe(5)
  })

  it('that has ended decides nothing', async () => {
    const job = await pipeline.createAccepted()
    await resolveVideoJob(job, pipeline.context, () => RELEASE)
    await resolveVideoJob(job, pipeline.context, () => Promise.reject(new Error('not asked')))
    expect((await pipeline.read(job)).status).toBe('failed')
  })

  it('that fails counts once for the list of what needs a person; one that its client or an operator ended does not', async () => {
    const failed = async () => {
      const byTenant = await readFailedJobs(pipeline.context.table, pipeline.clock.milliseconds)
      return byTenant.get(pipeline.tenant.tenantId)
    }
    const job = await pipeline.createAccepted()
    await resolveVideoJob(job, pipeline.context, () => RELEASE)
    await resolveVideoJob(job, pipeline.context, () => RELEASE)
    const cancelled = await pipeline.create()
    await markCancelled(pipeline.context.table, cancelled, pipeline.clock.milliseconds)
    await resolveVideoJob(cancelled, pipeline.context, () => RELEASE)
    const ended = await pipeline.create()
    const target = { kind: 'job', id: ended.jobId, tenantId: ended.tenantId } as const
    const audit = auditEntry({ actor: TESTER, action: 'job cancel', target, before: null, after: null, at: 0 })
    await resolveVideoJob(ended, pipeline.context, () => ({ ...RELEASE, audit }))
    const settled = await pipeline.createAccepted()
    await resolveVideoJob(settled, pipeline.context, () => settle('0.5'))
    expect(await failed()).toMatchObject({ count: 1, latestJobId: job.jobId })
  })

  it('that fails is ended although the table does not count it', async () => {
    const job = await pipeline.createAccepted()
    const { table } = pipeline.context
    const updateItem: typeof table.updateItem = (update, options) =>
      update.Key.PK === 'FAILURES' ? Promise.reject(new Error('no table')) : table.updateItem(update, options)
    await resolveVideoJob(job, { ...pipeline.context, table: { ...table, updateItem } }, () => RELEASE)
    expect((await pipeline.read(job)).status).toBe('failed')
  })
})

describe('resolveVideoJob: a settlement', () => {
  const engines = useOpened(startEngines)
  beforeEach(() => engines.reset())

  async function pipelineWith(
    usage: Readonly<Record<string, unknown>>,
    options: Parameters<Engines['pipeline']>[0] = {},
  ) {
    const pipeline = await engines.pipeline(options)
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), ...usage }))
    return pipeline
  }

  const unavailable = () => Promise.reject(new ServiceUnavailableError())

  it('is tried again while the table is contended, and bills once', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const Settle = (step: () => Promise<unknown>, visit: number) => (visit < 3 ? unavailable() : step())
    const machine = createVideoMachine(pipeline, { interpose: { Settle } })
    await machine.run(job)
    expect(machine.visited.filter((state) => state === 'Settle')).toHaveLength(3)
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('is by what the upstream reported, although its channel has left the configuration since', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const without = { ...pipeline.context.catalogue, findVideoChannel: () => undefined }
    const leave = async (step: () => Promise<unknown>) => {
      Object.assign(pipeline.context, { catalogue: without })
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Store: leave } }).run(job)
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('whose reply was lost is not repeated', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const Settle = async (step: () => Promise<unknown>, visit: number) => {
      await step()
      return visit === 1 ? await unavailable() : { step: 'done' }
    }
    await createVideoMachine(pipeline, { interpose: { Settle } }).run(job)
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that outlasts its tries is made up for by the failure path: the stored video is billed and delivered', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline, { interpose: { Settle: unavailable } })
    await machine.run(job)
    expect(machine.visited.slice(-2)).toEqual(['Fail', 'Notify'])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('above the reservation takes the balance below zero by the difference and is counted', async () => {
    const pipeline = await pipelineWith({ seconds: 10 }, { credits: '1' })
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    expect(formatCredits(balance.available)).toBe('-0.4')
    expect(engines.counted()).toContain('overdraft')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('above what the model can make is billed at that bound, as frozen at creation, and counted', async () => {
    const pipeline = await pipelineWith({ seconds: 3600 }, { credits: '1' })
    const prices = [{ resolution: 'any' as const, audio: 'any' as const, video_input: 'any' as const, price: '0.14' }]
    const job = await pipeline.create({ snapshot: { billing: 'per_second', prices, quantityMax: 7 } })
    await createVideoMachine(pipeline).run(job)
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    expect([await pipeline.spent(), formatCredits(balance.available)]).toEqual(['0.98', '0.02'])
    expect(engines.counted()).toContain('usage_above_bound')
  })

  it('uses the prices frozen at creation, whatever the configuration says now', async () => {
    const pipeline = await pipelineWith({ seconds: 10 })
    const prices = [{ resolution: 'any' as const, audio: 'any' as const, video_input: 'any' as const, price: '0.01' }]
    const job = await pipeline.create({ snapshot: { billing: 'per_second', prices, quantityMax: 60 } })
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.spent()).toBe('0.1')
  })

  it('bills the locked estimate when a token-billed upstream leaves its usage out', async () => {
    const pipeline = await pipelineWith({})
    const prices = [{ resolution: 'any' as const, audio: 'any' as const, video_input: 'any' as const, price: '7' }]
    const job = await pipeline.create({ snapshot: { billing: 'token', prices, quantityMax: 1_000_000 } })
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.spent()).toBe('0.7')
    expect(engines.counted()).toContain('billed_at_estimate')
  })

  it.each([
    ['4.999', '0.69986'],
    ['0.0000036', '0.000001'],
  ])('of %s seconds rounds half up once, to a millionth of a credit', async (seconds, cost) => {
    const pipeline = await pipelineWith({ seconds })
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.spent()).toBe(cost)
  })
})

describe('the failure path:', () => {
  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  beforeEach(async () => {
    engines.reset()
    pipeline = await engines.pipeline()
  })

  describe('failVideoJob', () => {
    it.each([
      ['that a step returned', { next: { error: 'TaskGoneError' } }, 'upstream lost the task'],
      ['that an earlier definition caught', { failure: { Error: 'TaskGoneError' } }, 'upstream lost the task'],
      [
        'of no expected kind, before what a step returned',
        { failure: { Error: 'TypeError' }, next: { error: 'TaskGoneError' } },
        'internal error',
      ],
    ])('ends the job with the text of the failure %s', async (_, found, error) => {
      const job = await pipeline.createAccepted()
      expect(await failVideoJob({ ...job, ...found }, pipeline.context)).toEqual({ step: 'done' })
      expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error })
      expect(await pipeline.leftovers(job)).toEqual([])
    })

    it('that cannot work ends the execution as FAILED, and Reconcile finds the reservation open', async () => {
      const job = await pipeline.create()
      const unavailable = () => Promise.reject(new ServiceUnavailableError())
      const broken: unknown[] = []
      const machine = createVideoMachine(pipeline, {
        interpose: { Submit: unavailable, Fail: unavailable },
        onBroken: ({ name, status, error }) => broken.push([name, status, error]),
      })
      await machine.run(job)
      expect(broken).toEqual([[job.jobId, 'FAILED', 'ServiceUnavailableError']])
      expect(machine.visited.filter((state) => state === 'Fail')).toHaveLength(7)
      expect(await pipeline.leftovers(job)).toEqual(['the reservation is open', `the due index holds ${job.jobId}`])
    })
  })

  describe('endFailedJob: a job whose execution cannot go on', () => {
    it('is released with the reason on its record', async () => {
      const job = await pipeline.createAccepted()
      await recordFailure(pipeline.context.table, job, { failure: 'no kittens' })
      await endFailedJob(job, pipeline.context, 'UpstreamFailedError')
      expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'no kittens' })
      expect(await pipeline.spent()).toBe('0')
    })

    it.each([
      ['GenerationTimedOutError', 'generation timed out'],
      ['StoreFailedError', 'result could not be stored'],
      ['Lambda.Unknown', 'internal error'],
      [undefined, 'internal error'],
    ])('without a reason on its record gets the text of %s', async (errorName, text) => {
      const job = await pipeline.createAccepted()
      await endFailedJob(job, pipeline.context, errorName)
      expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: text })
    })

    it('is billed and delivered when its video is stored', async () => {
      const job = await pipeline.createAccepted()
      const { table } = pipeline.context
      await recordPoll(table, job, { pollText: { inline: '{"seconds":3,"length":3}' }, finishedAt: 1 })
      await recordStored(table, job, { durationSeconds: '3.0', nowSeconds: 2 })
      await endFailedJob(job, pipeline.context, 'Lambda.Unknown')
      expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', durationSeconds: '3' })
      expect(await pipeline.spent()).toBe('0.42')
    })

    it('is not billed when its result was refused, although its client has deleted it since', async () => {
      const job = await pipeline.createAccepted()
      const { table } = pipeline.context
      await recordPoll(table, job, { pollText: { inline: '{"seconds":3,"length":3}' }, finishedAt: 1 })
      await recordFailure(table, job, { failure: 'upstream result is not a video' })
      await pipeline.remove(job)
      await endFailedJob(job, pipeline.context, 'ResultNotAVideoError')
      expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'upstream result is not a video' })
      expect(await pipeline.spent()).toBe('0')
      expect(await pipeline.leftovers(job)).toEqual([])
    })

    it('loses the object of a Store that died before its record', async () => {
      const job = await pipeline.createAccepted()
      await recordPoll(pipeline.context.table, job, { pollText: { inline: '{}' }, finishedAt: 1 })
      await putText(engines.bucket.bucket, job.videoKey, 'the video')
      await endFailedJob(job, pipeline.context, 'Lambda.Unknown')
      expect(await engines.bucket.keys(job.videoKey)).toEqual([])
      expect(await pipeline.leftovers(job)).toEqual([])
    })
  })
})

describe('reportRefusedResult', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('counts the result, and logs its job and the reason as an error', () => {
    const { counted } = captureTelemetry()
    const log = captureLog()
    const job = videoJobRecord({ channelId: 'main' })
    reportRefusedResult(job, 'not a video')
    expect(counted()).toEqual(['result_refused'])
    const expected = { level: 'ERROR', message: 'result refused', jobId: job.jobId, reason: 'not a video' }
    expect(log.entries()).toContainEqual(expect.objectContaining(expected))
  })
})
