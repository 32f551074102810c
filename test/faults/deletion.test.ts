import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isVisible } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { getTenant } from '#store/tenants/tenants.ts'
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

describe('a deleted job', () => {
  it.each([
    ['between the read and the write of a settlement', 'Settle', SUCCESS, 'processing', '0.42'],
    ['between its settlement and the clean-up', 'Settle', SUCCESS, 'succeeded', '0.42'],
    ['between the read and the write of a release', 'Fail', FAILURE, 'processing', '0'],
    ['between its release and the clean-up', 'Fail', FAILURE, 'failed', '0'],
  ] as const)('is resolved once and leaves nothing if deleted %s', async (_, state, end, status, cost) => {
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

  it('is not submitted again and costs nothing if deleted while its submit hangs', async () => {
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
