import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { cancelVideoJob } from '#lambdas/admin/jobs.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { accepted, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'
import { requireReservation, settle, TESTER } from '../engines/video-jobs.ts'
import { createVideoMachine, startExecutions, type VideoMachine } from '../engines/video-machine.ts'

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
let pipeline: Pipeline
let machine: VideoMachine
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
  receiver = await startCallbackReceiver()
})
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
})
afterAll(async () => {
  await Promise.all([engines.close(), executions.close(), receiver.stop()])
})

/** The bodies of the callbacks that came to one path. */
const bodies = (path: string) =>
  receiver.received.filter((callback) => callback.path === path).map(({ body }) => JSON.parse(body))

const CANCELLED = { status: 'failed', error: 'cancelled by the operator' }

function useMachine(options: Parameters<typeof createVideoMachine>[1] = {}): void {
  machine = createVideoMachine(pipeline, options)
  executions.use(machine)
}

/** A job whose execution waits at its second poll until `go` is called. */
async function runToPoll(changes: Partial<NewVideoJob> = {}) {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  useMachine({
    interpose: {
      Poll: async (step, visit) => {
        if (visit === 2) {
          reached.resolve()
          await released.promise
        }
        return await step()
      },
    },
  })
  const job = await pipeline.create(changes)
  const ended = machine.run(job)
  await reached.promise
  return { job, go: released.resolve, ended }
}

const cancel = async (job: NewVideoJob) => cancelVideoJob(await pipeline.read(job), pipeline.context, TESTER)

async function money() {
  const { balance } = await getTenant(pipeline.context.table, pipeline.tenant.tenantId)
  return [balance.available, balance.held, balance.spent].map(formatCredits)
}

describe('cancelling a job', () => {
  it('gives its money back, asks the upstream to stop, and sends the callback of a failed job once', async () => {
    const { job, go, ended } = await runToPoll({ callbackUrl: `${receiver.origin}/cancelled` })
    expect(await cancel(job)).toMatchObject(CANCELLED)
    expect(await machine.engine.whenEnded(`${job.jobId}-1`)).toMatchObject({ status: 'SUCCEEDED' })
    expect(pipeline.upstream.cancelled).toEqual(['task-1'])
    go()
    expect(await ended).toMatchObject({ status: 'SUCCEEDED' })
    expect(bodies('/cancelled')).toEqual([{ id: job.jobId, ...CANCELLED }])
    expect(await money()).toEqual(['100', '0', '0'])
    expect(await pipeline.read(job)).toMatchObject(CANCELLED)
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('ends a job that no upstream has, and its execution posts it nowhere', async () => {
    useMachine()
    const job = await pipeline.create()
    await cancel(job)
    await machine.run(job)
    expect(pipeline.upstream.submitted).toEqual([])
    expect(machine.visited).toEqual(['Submit', 'Notify'])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('while its submit is on the way leaves no task behind, and the callback is sent', async () => {
    useMachine()
    const job = await pipeline.create({ callbackUrl: `${receiver.origin}/on-the-way` })
    pipeline.upstream.script.submit = async () => {
      await cancel(job)
      return accepted()
    }
    await machine.run(job)
    await machine.engine.whenEnded(`${job.jobId}-1`)
    expect(pipeline.upstream.cancelled).toEqual(['task-1'])
    expect(bodies('/on-the-way')).toEqual([{ id: job.jobId, ...CANCELLED }])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('removes a video that was stored already, and a store that comes second keeps none', async () => {
    pipeline.upstream.script.poll = () => succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
    for (const when of ['before', 'after'] as const) {
      useMachine({
        interpose: {
          Store: async (step) => {
            const output = when === 'after' ? await step() : undefined
            await cancel(job)
            return output ?? (await step())
          },
        },
      })
      const job = await pipeline.create()
      await machine.run(job)
      expect(await pipeline.read(job)).toMatchObject(CANCELLED)
      expect(await engines.bucket.keys()).not.toContain(job.videoKey)
      expect(await pipeline.leftovers(job)).toEqual([])
    }
    expect(await money()).toEqual(['100', '0', '0'])
  })

  it('that meets its settlement leaves one of the two, whole: the money, the ledger and the status agree', async () => {
    const { table } = pipeline.context
    for (let round = 0; round < 8; round += 1) {
      const { job, go, ended } = await runToPoll()
      const processing = await pipeline.read(job)
      const reservation = await requireReservation(table, job)
      const nowMilliseconds = Date.now()
      const settlement = () =>
        resolveReservation(table, { job: processing, reservation, resolution: settle('0.5'), nowMilliseconds })
      const both = round % 2 === 0 ? [settlement(), cancel(job)] : [cancel(job), settlement()]
      await Promise.all(both)
      const { status } = await pipeline.read(job)
      expect(['failed', 'succeeded']).toContain(status)
      expect((await requireReservation(table, job)).state).toBe(status === 'failed' ? 'released' : 'settled')
      go()
      await ended
      await machine.engine.whenEnded(`${job.jobId}-1`)
      expect((await pipeline.read(job)).status).toBe(status)
      expect(await pipeline.leftovers(job)).toEqual([])
    }
  })

  it('that had succeeded changes nothing', async () => {
    pipeline.upstream.script.poll = () => succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
    useMachine()
    const job = await pipeline.create()
    await machine.run(job)
    const before = await pipeline.read(job)
    expect(before.status).toBe('succeeded')
    expect(await cancel(job)).toEqual(before)
    expect(await pipeline.read(job)).toEqual(before)
    expect(await engines.bucket.keys()).toContain(job.videoKey)
    expect(machine.engine.find(`${job.jobId}-1`)).toBeUndefined()
  })

  it('done again after a crash sends what the first did not get to', async () => {
    const { job, go, ended } = await runToPoll({ callbackUrl: `${receiver.origin}/again` })
    executions.breakDown()
    await expect(cancel(job)).rejects.toThrow()
    expect(await pipeline.read(job)).toMatchObject(CANCELLED)
    executions.use(machine)
    expect(await cancel(job)).toMatchObject(CANCELLED)
    await machine.engine.whenEnded(`${job.jobId}-1`)
    expect(bodies('/again')).toEqual([{ id: job.jobId, ...CANCELLED }])
    go()
    await ended
    expect(bodies('/again')).toHaveLength(1)
  })
})
