import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { NewVideoJob } from '#adapters/store/money/reserve-quota.ts'
import { isVisible } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money/money.ts'
import { startCallbackReceiver } from '../engines/callback-receiver.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { createVideoMachine, type StateName } from '../engines/run-video-machine.ts'
import { inTurn, running, succeeded } from '../engines/scripted-upstream.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { holdRequest } from './faulty-table.ts'

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
  receiver.received.length = 0
})

type Started = { readonly pipeline: Pipeline; readonly job: NewVideoJob }

async function start(): Promise<Started> {
  const config = { callback_allowlist: [receiver.origin], trusted_origins: [engines.results.origin] }
  const pipeline = await engines.pipeline({ config })
  return { pipeline, job: await pipeline.create({ callbackUrl: receiver.url }) }
}

async function expectGone({ pipeline, job }: Started, cost: string): Promise<void> {
  expect(isVisible(await pipeline.read(job), pipeline.clock.seconds)).toBe(false)
  expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  expect(receiver.received).toEqual([])
  expect(await pipeline.leftovers(job)).toEqual([])
  const { balance } = await getTenant(pipeline.context.table, job.tenantId)
  expect(formatCredits(balance.spent)).toBe(cost)
}

const SUCCESS = () => succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
const FAILURE = () => ({ kind: 'failed', text: '{}', message: 'no' }) as const

describe('a job deleted', () => {
  it.each([
    ['a settlement read it and before that is written', 'Settle', SUCCESS, 'processing', '0.42'],
    ['its settlement was written and before the clean-up looks', 'Settle', SUCCESS, 'succeeded', '0.42'],
    ['a release read it and before that is written', 'Fail', FAILURE, 'processing', '0'],
    ['its release was written and before the clean-up looks', 'Fail', FAILURE, 'failed', '0'],
  ] as const)('after %s is resolved once and leaves nothing', async (_, state, end, status, cost) => {
    const started = await start()
    const { pipeline, job } = started
    pipeline.upstream.script.poll = inTurn(running(), end())
    // The step reads the job, writes the resolution, reads the job again.
    const requestsBefore = status === 'processing' ? 1 : 2
    const deleteInBetween = async (step: () => Promise<unknown>) => {
      const held = holdRequest(pipeline.context.table, `JOB#${job.jobId}`, requestsBefore)
      const stepping = step()
      await held.arrived
      expect((await pipeline.read(job)).status).toBe(status)
      await pipeline.remove(job)
      held.release()
      return await stepping
    }
    const interpose: Partial<Record<StateName, typeof deleteInBetween>> = { [state]: deleteInBetween }
    const machine = createVideoMachine(pipeline, { interpose })
    expect((await machine.run(job)).status).toBe('SUCCEEDED')
    expect(machine.visited).toContain(state)
    await expectGone(started, cost)
  })

  it('while its submit hangs is never posted again and costs nothing', async () => {
    const started = await start()
    const { pipeline, job } = started
    pipeline.upstream.script.submit = async () => {
      await pipeline.remove(job)
      return { kind: 'unknown', reason: 'no answer' }
    }
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main'])
    await expectGone(started, '0')
  })
})
