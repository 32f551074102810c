import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { claimSubmit } from '#adapters/store/jobs/submission.ts'
import { JobMovedError, resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { RELEASE, settle } from '../engines/video-jobs.ts'

let engines: Engines
let pipeline: Pipeline
beforeAll(async () => {
  engines = await startEngines()
})
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
})
afterAll(() => engines.close())

describe('resolveVideoJob: a job', () => {
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
    await expect(never).rejects.toBeInstanceOf(JobMovedError)
    expect(tries).toBe(5)
  })

  it('that has ended decides nothing', async () => {
    const job = await pipeline.createAccepted()
    await resolveVideoJob(job, pipeline.context, () => RELEASE)
    await resolveVideoJob(job, pipeline.context, () => Promise.reject(new Error('not asked')))
    expect((await pipeline.read(job)).status).toBe('failed')
  })
})
