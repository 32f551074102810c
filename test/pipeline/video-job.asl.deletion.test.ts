import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { isVisible } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
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

type Step = () => Promise<unknown>
type Started = { readonly pipeline: Pipeline; readonly job: NewVideoJob }

/** A job with a callback whose upstream runs at the first poll and succeeds, three seconds long, at the second. */
async function start(options: Parameters<Engines['pipeline']>[0] = {}): Promise<Started> {
  const config = { callback_allowlist: [receiver.origin], trusted_origins: [engines.results.origin] }
  const pipeline = await engines.pipeline({ config, ...options })
  const done = succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
  pipeline.upstream.script.poll = inTurn(running(), done)
  return { pipeline, job: await pipeline.create({ callbackUrl: receiver.url }) }
}

/** Removes the job right before or after one visit of a state. */
function removeAt({ pipeline, job }: Started, moment: 'before' | 'after', visit = 1) {
  return async (step: Step, current: number) => {
    if (moment === 'before' && current === visit) {
      await pipeline.remove(job)
    }
    const output = await step()
    if (moment === 'after' && current === visit) {
      await pipeline.remove(job)
    }
    return output
  }
}

/** Nothing of the job is left, for anybody; and what it cost. */
async function expectGone({ pipeline, job }: Started, cost: string): Promise<void> {
  expect(isVisible(await pipeline.read(job), pipeline.clock.seconds)).toBe(false)
  expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  expect(receiver.received).toEqual([])
  expect(await pipeline.leftovers(job)).toEqual([])
  const { balance } = await getTenant(pipeline.context.table, job.tenantId)
  expect(formatCredits(balance.spent)).toBe(cost)
}

describe('the state machine: the second execution of a deleted job', () => {
  async function deleteBeside(started: Started) {
    const Poll = async (step: Step, visit: number) => {
      if (visit === 2) {
        await started.pipeline.remove(started.job)
        await createVideoMachine(started.pipeline).run(started.job)
      }
      return await step()
    }
    const machine = createVideoMachine(started.pipeline, { interpose: { Poll } })
    await machine.run(started.job)
    expect(started.pipeline.upstream.cancelled).toEqual(['task-1'])
    return machine.visited
  }

  it('stops a waiting upstream at once, and the first one finds the job ended', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = () => 'cancelled'
    expect(await deleteBeside(started)).toEqual(['Submit', 'Poll', 'Poll', 'Notify'])
    await expectGone(started, '0')
  })

  it('leaves the bill to the first one where the upstream works on', async () => {
    const started = await start()
    expect(await deleteBeside(started)).toEqual(['Submit', 'Poll', 'Poll', 'Settle', 'Notify'])
    await expectGone(started, '0.42')
  })
})

describe('the state machine: a job deleted', () => {
  it('before its submit is never posted and costs nothing', async () => {
    const started = await start()
    await started.pipeline.remove(started.job)
    await createVideoMachine(started.pipeline).run(started.job)
    expect(started.pipeline.upstream.submitted).toEqual([])
    await expectGone(started, '0')
  })

  it('while it waits for a channel is not posted any more and costs nothing', async () => {
    const started = await start()
    started.pipeline.upstream.script.submit = inTurn({ kind: 'busy', reason: '429', retryAfterSeconds: undefined })
    const Submit = removeAt(started, 'after', 2)
    await createVideoMachine(started.pipeline, { interpose: { Submit } }).run(started.job)
    expect(started.pipeline.upstream.submitted).toEqual(['main', 'spare', 'main', 'spare'])
    await expectGone(started, '0')
  })

  it('between two channels is not offered to the second one', async () => {
    const started = await start()
    started.pipeline.upstream.script.submit = async () => {
      await started.pipeline.remove(started.job)
      return { kind: 'channel_refused', reason: '401', code: 'upstream_auth' }
    }
    await createVideoMachine(started.pipeline).run(started.job)
    expect(started.pipeline.upstream.submitted).toEqual(['main'])
    await expectGone(started, '0')
  })

  it('while its submit is on the way is cancelled upstream a second later and costs nothing', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = () => 'cancelled'
    started.pipeline.upstream.script.submit = async () => {
      await started.pipeline.remove(started.job)
      return accepted()
    }
    const before = started.pipeline.clock.seconds
    await createVideoMachine(started.pipeline).run(started.job)
    expect(started.pipeline.upstream.cancelled).toEqual(['task-1'])
    expect(started.pipeline.clock.seconds - before).toBeLessThanOrEqual(1)
    await expectGone(started, '0')
  })

  it('while processing, where the upstream can cancel, costs nothing', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = () => 'cancelled'
    const machine = createVideoMachine(started.pipeline, { interpose: { Poll: removeAt(started, 'after') } })
    await machine.run(started.job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Fail', 'Notify'])
    await expectGone(started, '0')
  })

  it('while processing, where the upstream cannot cancel, is billed what the upstream reports and not stored', async () => {
    const started = await start()
    const machine = createVideoMachine(started.pipeline, { interpose: { Poll: removeAt(started, 'before') } })
    await machine.run(started.job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Settle', 'Notify'])
    expect(started.pipeline.upstream.cancelled).toEqual(['task-1'])
    await expectGone(started, '0.42')
  })

  it('while processing asks again for the cancellation as long as the upstream gave no reply to it', async () => {
    const started = await start()
    started.pipeline.upstream.script.cancel = inTurn('unknown' as const, 'cancelled' as const)
    await createVideoMachine(started.pipeline, { interpose: { Poll: removeAt(started, 'before') } }).run(started.job)
    expect(started.pipeline.upstream.cancelled).toHaveLength(2)
    await expectGone(started, '0')
  })

  it('while processing whose upstream then fails costs nothing', async () => {
    const started = await start()
    started.pipeline.upstream.script.poll = inTurn(running(), { kind: 'failed', text: '{}', message: 'no' })
    await createVideoMachine(started.pipeline, { interpose: { Poll: removeAt(started, 'after') } }).run(started.job)
    await expectGone(started, '0')
  })

  it('between the last poll and the store is billed and not stored', async () => {
    const started = await start()
    await createVideoMachine(started.pipeline, { interpose: { Store: removeAt(started, 'before') } }).run(started.job)
    await expectGone(started, '0.42')
  })

  it('while its video is stored is billed and leaves no object', async () => {
    const started = await start()
    const { context } = started.pipeline
    const original = context.readResult
    const removed: Promise<void>[] = []
    Object.assign(context, {
      readResult: (...parameters: Parameters<typeof original>) => {
        removed.push(started.pipeline.remove(started.job))
        return original(...parameters)
      },
    })
    await createVideoMachine(started.pipeline).run(started.job)
    await Promise.all(removed)
    expect(removed.length).toBeGreaterThan(0)
    await expectGone(started, '0.42')
  })

  it('between store and settlement is billed and leaves no object', async () => {
    const started = await start()
    await createVideoMachine(started.pipeline, { interpose: { Settle: removeAt(started, 'before') } }).run(started.job)
    await expectGone(started, '0.42')
  })

  it('whose settlement fails for good is billed by the failure path all the same', async () => {
    const started = await start()
    const Poll = removeAt(started, 'before')
    const Settle = () => Promise.reject(new ServiceUnavailableError())
    await createVideoMachine(started.pipeline, { interpose: { Poll, Settle } }).run(started.job)
    await expectGone(started, '0.42')
  })

  it('after it succeeded, before its callback, gets no callback', async () => {
    const started = await start()
    await createVideoMachine(started.pipeline, { interpose: { Notify: removeAt(started, 'before') } }).run(started.job)
    await expectGone(started, '0.42')
  })

  it('after everything loses its object, of which the CDN keeps no copy', async () => {
    const started = await start()
    await createVideoMachine(started.pipeline).run(started.job)
    expect(receiver.received).toHaveLength(1)
    receiver.received.length = 0
    await started.pipeline.remove(started.job)
    await expectGone(started, '0.42')
  })
})
