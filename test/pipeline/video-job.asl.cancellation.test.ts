import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { formatCredits } from '#core/money.ts'
import { pollVideoJob } from '#lambdas/pipeline/poll-video-job/poll-video-job.ts'
import { resolveVideoJob, settlementOf } from '#lambdas/pipeline/resolve-video-job.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { markCancelled } from '#store/jobs/cancel-and-delete.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { accepted, inTurn, type Pipeline, running, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'
import { createVideoMachine } from '../engines/video-machine.ts'

let engines: Engines
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
beforeAll(async () => {
  engines = await startEngines()
  receiver = await startCallbackReceiver()
})
afterAll(async () => {
  await Promise.all([engines.close(), receiver.stop()])
})
beforeEach(() => {
  engines.reset()
  receiver.received.length = 0
})

type Started = { readonly pipeline: Pipeline; readonly job: NewVideoJob }

/** A job with a callback whose upstream runs at the first poll and succeeds, three seconds long, at the second. */
async function start(): Promise<Started> {
  const config = { callback_allowlist: [receiver.origin], trusted_origins: [engines.results.origin] }
  const pipeline = await engines.pipeline({ config })
  const done = succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
  pipeline.upstream.script.poll = inTurn(running(), done)
  return { pipeline, job: await pipeline.create({ callbackUrl: receiver.url }) }
}

const cancel = ({ pipeline, job }: Started) => markCancelled(pipeline.context.table, job, pipeline.clock.milliseconds)

/** Cancels the job right before one visit of a state. */
function cancelBefore(started: Started, visit = 1) {
  return async (step: () => Promise<unknown>, current: number) => {
    if (current === visit) {
      await cancel(started)
    }
    return await step()
  }
}

/** The record stays as cancelled, its callback was sent once and says so, and nothing else of the job is left. */
async function expectCancelled({ pipeline, job }: Started, cost: string): Promise<void> {
  const error = 'cancelled by the client'
  expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error, isDeleted: false })
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual([{ id: job.jobId, status: 'failed', error }])
  expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  expect(await pipeline.leftovers(job)).toEqual([])
  const { balance } = await getTenant(pipeline.context.table, job.tenantId)
  expect(formatCredits(balance.spent)).toBe(cost)
}

describe('the state machine: a job cancelled by its client', () => {
  it('before its submit is never posted and costs nothing', async () => {
    const started = await start()
    await cancel(started)
    await createVideoMachine(started.pipeline).run(started.job)
    expect(started.pipeline.upstream.submitted).toEqual([])
    await expectCancelled(started, '0')
  })

  it('between two channels is not offered to the second one', async () => {
    const started = await start()
    started.pipeline.upstream.script.submit = async () => {
      await cancel(started)
      return { kind: 'channel_refused', reason: '401', code: 'upstream_auth' }
    }
    await createVideoMachine(started.pipeline).run(started.job)
    expect(started.pipeline.upstream.submitted).toEqual(['main'])
    await expectCancelled(started, '0')
  })

  it('while its submit is on the way is cancelled upstream a second later and costs nothing', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = () => 'cancelled'
    started.pipeline.upstream.script.submit = async () => {
      await cancel(started)
      return accepted()
    }
    const before = started.pipeline.clock.seconds
    await createVideoMachine(started.pipeline).run(started.job)
    expect(started.pipeline.upstream.cancelled).toEqual(['task-1'])
    expect(started.pipeline.clock.seconds - before).toBeLessThanOrEqual(1)
    await expectCancelled(started, '0')
  })

  it('while processing, where the upstream can cancel, costs nothing', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = () => 'cancelled'
    const machine = createVideoMachine(started.pipeline, { interpose: { Poll: cancelBefore(started, 2) } })
    await machine.run(started.job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Fail', 'Notify'])
    await expectCancelled(started, '0')
  })

  it('while processing, where the upstream cannot cancel, is billed what the upstream reports and not stored', async () => {
    const started = await start()
    const machine = createVideoMachine(started.pipeline, { interpose: { Poll: cancelBefore(started) } })
    await machine.run(started.job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Settle', 'Notify'])
    expect(started.pipeline.upstream.cancelled).toEqual(['task-1'])
    await expectCancelled(started, '0.42')
  })

  it('while processing whose upstream then fails costs nothing, and keeps its error', async () => {
    const started = await start()
    started.pipeline.upstream.script.poll = inTurn(running(), { kind: 'failed', text: '{}', message: 'no' })
    await createVideoMachine(started.pipeline, { interpose: { Poll: cancelBefore(started, 2) } }).run(started.job)
    await expectCancelled(started, '0')
    expect((await started.pipeline.read(started.job)).failureCause).toBe('no')
  })

  it.each(['Store', 'Settle'] as const)('before %s is billed and leaves no object', async (state) => {
    const started = await start()
    const interpose = { [state]: cancelBefore(started) }
    await createVideoMachine(started.pipeline, { interpose }).run(started.job)
    await expectCancelled(started, '0.42')
  })

  it('whose settlement fails for good is billed by the failure path all the same', async () => {
    const started = await start()
    const Settle = () => Promise.reject(new ServiceUnavailableError())
    const interpose = { Poll: cancelBefore(started), Settle }
    await createVideoMachine(started.pipeline, { interpose }).run(started.job)
    await expectCancelled(started, '0.42')
  })

  it('between the read and the write of a settlement is decided again: it never reads succeeded', async () => {
    const started = await start()
    const { pipeline, job } = started
    let decided = 0
    const Settle = async () => {
      await resolveVideoJob(job, pipeline.context, async (record, reservation) => {
        decided += 1
        const settlement = await settlementOf(record, reservation, pipeline.context)
        await cancel(started)
        return settlement
      })
      return { step: 'done' }
    }
    await createVideoMachine(pipeline, { interpose: { Settle } }).run(job)
    expect(decided).toBe(2)
    await expectCancelled(started, '0.42')
  })

  it('after it succeeded is not cancelled', async () => {
    const started = await start()
    await createVideoMachine(started.pipeline).run(started.job)
    expect((await cancel(started))?.cancelledAt).toBeUndefined()
    expect(await started.pipeline.read(started.job)).toMatchObject({ status: 'succeeded' })
    expect(await engines.bucket.keys(started.job.videoKey)).toHaveLength(1)
  })
})

describe('the state machine: the second execution of a cancelled job', () => {
  const second = (started: Started) => createVideoMachine(started.pipeline).run(started.job)

  it('stops a waiting upstream at once, and the first one finds the job ended', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = () => 'cancelled'
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 2) {
        await cancel(started)
        await second(started)
        await expectCancelled(started, '0')
      }
      return await step()
    }
    const machine = createVideoMachine(started.pipeline, { interpose: { Poll } })
    await machine.run(started.job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Notify'])
    await expectCancelled(started, '0')
  })

  it('sends the callback at once where the upstream works on, and leaves the bill to the first one', async () => {
    const started = await start()
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 2) {
        await cancel(started)
        await second(started)
        expect(receiver.received).toHaveLength(1)
        expect((await started.pipeline.read(started.job)).status).toBe('processing')
      }
      return await step()
    }
    await createVideoMachine(started.pipeline, { interpose: { Poll } }).run(started.job)
    expect(started.pipeline.upstream.cancelled).toEqual(['task-1'])
    await expectCancelled(started, '0.42')
  })

  it('is not ended by a channel whose key cannot be read: the task is billed when it ends', async () => {
    const started = await start()
    const { upstream } = started.pipeline
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 2) {
        await cancel(started)
        upstream.closed.add('main')
        const machine = createVideoMachine(started.pipeline, {
          interpose: {
            Poll: async (poll) => {
              upstream.closed.delete('main')
              return await poll()
            },
          },
        })
        await machine.run(started.job)
        expect(machine.visited.slice(0, 2)).toEqual(['Submit', 'Poll'])
      }
      return await step()
    }
    await createVideoMachine(started.pipeline, { interpose: { Poll } }).run(started.job)
    await expectCancelled(started, '0.42')
  })

  it('beside a first one that polls at the same moment bills once', async () => {
    const started = await start()
    const { pipeline, job } = started
    await claimSubmit(pipeline.context.table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    }).catch(() => {})
    pipeline.upstream.script.cancel = () => 'unknown'
    await cancel(started)
    pipeline.clock.advance(60)
    await Promise.all([second(started), second(started), pollVideoJob(job, pipeline.context).catch(() => {})])
    expect(await pipeline.leftovers(job)).toEqual([])
    expect(receiver.received).toHaveLength(1)
  })
})
