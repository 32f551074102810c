import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { reconcileJob } from '#lambdas/pipeline/reconcile/reconcile-job.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { accepted, inTurn, type Pipeline } from '../engines/pipeline.ts'
import { type Recovery, startRecovery } from '../engines/start-engines.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'
import { createVideoMachine, type StateName, type VideoMachine } from '../engines/video-machine.ts'

let recovery: Recovery
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
let pipeline: Pipeline
beforeAll(async () => {
  recovery = await startRecovery()
  receiver = await startCallbackReceiver()
})
beforeEach(async () => {
  receiver.received.length = 0
  const config = { trusted_origins: [recovery.engines.results.origin], callback_allowlist: [receiver.origin] }
  pipeline = await recovery.openPipeline({ config })
})
afterAll(async () => {
  await Promise.all([recovery.close(), receiver.stop()])
})

const useMachine = (options?: Parameters<Recovery['useMachine']>[1]) => recovery.useMachine(pipeline, options)

type Job = { readonly tenantId: string; readonly jobId: string }

async function endOf(job: Job) {
  const { balance } = await getTenant(pipeline.context.table, job.tenantId)
  return {
    status: (await pipeline.read(job)).status,
    spent: formatCredits(balance.spent),
    leftovers: await pipeline.leftovers(job),
    submits: pipeline.upstream.submitted.length,
    callbacks: receiver.received.length,
  }
}

const SUCCEEDED = { status: 'succeeded', spent: '0.42', leftovers: [], submits: 1, callbacks: 1 }
const busy = { kind: 'busy', reason: '429', retryAfterSeconds: undefined } as const
const A_MINUTE = 60

describe('a job whose execution is killed', () => {
  /** Kills the execution in the first visit of a state, before its function has done anything. */
  async function killIn(state: StateName) {
    const machine: VideoMachine = useMachine({
      interpose: {
        [state]: async (step: () => Promise<unknown>, visit: number) => {
          if (visit > 1) {
            return await step()
          }
          machine.engine.stop(job.jobId)
          throw new Error('killed')
        },
      },
    })
    const job = await pipeline.create({ callbackUrl: receiver.url })
    expect(await machine.run(job)).toMatchObject({ status: 'ABORTED' })
    return { job, machine }
  }

  /** One sweep, and the execution that it starts, if any. */
  async function sweep({ job, machine }: { job: Job; machine: VideoMachine }) {
    await recovery.reconcileAfter(pipeline, A_MINUTE)
    return await machine.engine.whenEnded(`${job.jobId}-1`)
  }

  it.each(['Submit', 'Poll', 'Store', 'Settle'] as const)(
    'in %s is finished by the next run of Reconcile: one submit, one bill, one callback',
    async (state) => {
      const killed = await killIn(state)
      expect(await sweep(killed)).toMatchObject({ status: 'SUCCEEDED' })
      expect(await endOf(killed.job)).toEqual(SUCCEEDED)
    },
  )

  it('in Fail fails with its original reason and is not billed', async () => {
    pipeline.upstream.script.poll = inTurn({ kind: 'failed', text: '{}', message: 'no kittens' } as const)
    const killed = await killIn('Fail')
    await sweep(killed)
    expect(await endOf(killed.job)).toEqual({ ...SUCCEEDED, status: 'failed', spent: '0' })
    expect((await pipeline.read(killed.job)).error).toBe('no kittens')
  })

  it('in Notify has no credits held, and the event of the failure sends the callback once', async () => {
    const { job, machine } = await killIn('Notify')
    expect(await sweep({ job, machine })).toBeUndefined()
    expect(await endOf(job)).toEqual({ ...SUCCEEDED, callbacks: 0 })
    for (const _ of ['the event', 'its double']) {
      await reconcileJob(job, pipeline.context)
      await machine.engine.whenEnded(`${job.jobId}-1`)
    }
    expect(await endOf(job)).toEqual(SUCCEEDED)
  })

  it.each([
    ['WaitForChannel', [busy, busy, accepted()], 2],
    ['WaitForUpstream', [accepted()], 1],
  ] as const)('in %s continues from its record after the next run of Reconcile', async (_, submits, before) => {
    pipeline.upstream.script.submit = inTurn<(typeof submits)[number]>(...submits)
    const waiting = Promise.withResolvers<void>()
    const Submit = async (step: () => Promise<unknown>) => {
      const next = await step()
      waiting.resolve()
      return next
    }
    const waits = createVideoMachine(pipeline, { interpose: { Submit }, waitMilliseconds: 60_000 })
    const job = await pipeline.create({ callbackUrl: receiver.url })
    const ended = waits.run(job)
    await waiting.promise
    await new Promise(setImmediate)
    expect([waits.visited, waits.engine.stop(job.jobId)]).toEqual([['Submit'], true])
    expect(await ended).toMatchObject({ status: 'ABORTED' })
    expect(pipeline.upstream.submitted).toHaveLength(before)
    const machine = useMachine()
    await recovery.reconcileAfter(pipeline, A_MINUTE)
    await machine.engine.whenEnded(job.jobId)
    expect(await endOf(job)).toEqual({ ...SUCCEEDED, submits: submits.length })
  })
})
