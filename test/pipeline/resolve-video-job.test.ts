import { beforeEach, describe, expect, it } from 'vitest'
import { resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { markCancelled } from '#store/jobs/cancel-and-delete.ts'
import { readFailedJobs } from '#store/jobs/failed-jobs.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { RELEASE, settle } from '../engines/video-jobs.ts'

const engines = useOpened(startEngines)
let pipeline: Pipeline
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
})

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
    await expect(never).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(tries).toBe(5)
  })

  it('that has ended decides nothing', async () => {
    const job = await pipeline.createAccepted()
    await resolveVideoJob(job, pipeline.context, () => RELEASE)
    await resolveVideoJob(job, pipeline.context, () => Promise.reject(new Error('not asked')))
    expect((await pipeline.read(job)).status).toBe('failed')
  })

  it('that fails counts once for the list of what needs a person; one that a client ended does not', async () => {
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
