import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { accepted, inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { CLIP } from '../engines/test-servers.ts'
import { createVideoMachine, startExecutions } from '../engines/video-machine.ts'
import { holdRequest } from './faulty-table.ts'

type Interpose = NonNullable<NonNullable<Parameters<typeof createVideoMachine>[1]>['interpose']>
type Step = () => Promise<unknown>

/** After this long Reconcile ends a job whatever its execution does. */
const OVERDUE_SECONDS = 14 * 60 * 60

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
let pipeline: Pipeline
let whileDownloading: () => Promise<unknown>
beforeAll(async () => {
  const slow = async (response: ServerResponse) => {
    await whileDownloading()
    response.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP)
  }
  engines = await startEngines({ '/slow.mp4': (_request, response) => void slow(response) })
  executions = await startExecutions()
})
beforeEach(async () => {
  engines.reset()
  whileDownloading = async () => undefined
  pipeline = await engines.pipeline()
  pipeline.upstream.script.poll = inTurn(done())
})
afterAll(async () => {
  await Promise.all([engines.close(), executions.close()])
})

const done = () => succeeded({ video_url: engines.results.url('/slow.mp4'), seconds: 3 })

/** A sweep that finds every open job overdue. */
async function sweepOverdue(): Promise<void> {
  pipeline.clock.advance(OVERDUE_SECONDS)
  await reconcile(pipeline.context, { all: false })
}

async function runJob(interpose: Interpose = {}) {
  const job = await pipeline.create()
  const machine = createVideoMachine(pipeline, { interpose })
  executions.use(machine)
  expect((await machine.run(job)).status).toBe('SUCCEEDED')
  return { job, machine }
}

async function endOf(job: { tenantId: string; jobId: string; videoKey: string }) {
  const { balance } = await getTenant(pipeline.context.table, job.tenantId)
  expect(pipeline.upstream.submitted).toHaveLength(1)
  expect(await pipeline.leftovers(job)).toEqual([])
  return {
    status: (await pipeline.read(job)).status,
    spent: formatCredits(balance.spent),
    objects: await engines.bucket.keys(job.videoKey),
  }
}

const conflicts = () => engines.counted().filter((fact) => fact === 'resolution_conflict')

describe('a concurrent release and settlement', () => {
  type Settle = (step: Step, endSweep: () => Promise<void>) => Promise<unknown>

  /** Runs a job whose sweep is held at a request since before the video was stored, at the latest until the job's end. */
  async function runBesideSweep([marker, passing]: readonly [string, number], settle: Settle = (step) => step()) {
    let endSweep = () => Promise.resolve()
    const Store = async (step: Step) => {
      const held = holdRequest(pipeline.context.table, marker, passing)
      const sweep = sweepOverdue()
      endSweep = async () => {
        held.release()
        await sweep
      }
      await held.arrived
      return await step()
    }
    const { job } = await runJob({ Store, Settle: (step) => settle(step, endSweep) })
    await endSweep()
    return job
  }

  it.each([
    ['its commit', ['"release"', 0]],
    ['the reads before it', ['"RESERVATION#', 1]],
  ] as const)('end as the settlement if it commits while the release is at %s: the video stays', async (_, held) => {
    const job = await runBesideSweep(held)
    expect(await endOf(job)).toEqual({ status: 'succeeded', spent: '0.42', objects: [job.videoKey] })
    expect(conflicts()).toHaveLength(1)
  })

  it('end as the release if it commits first: nothing is billed or kept', async () => {
    const job = await runBesideSweep(['"release"', 0], async (step, endSweep) => {
      const settlement = holdRequest(pipeline.context.table, '"settle"')
      const settling = step()
      await settlement.arrived
      await endSweep()
      settlement.release()
      return await settling
    })
    expect(await endOf(job)).toEqual({ status: 'failed', spent: '0', objects: [] })
    expect(conflicts()).toHaveLength(1)
  })
})

describe('a step whose job Reconcile ends meanwhile', () => {
  const NOTHING = { status: 'failed', spent: '0', objects: [] }

  it('in Submit cancels its upstream task and continues only with the callback', async () => {
    pipeline.upstream.script.submit = async () => {
      await sweepOverdue()
      return accepted()
    }
    const { job, machine } = await runJob()
    expect(await endOf(job)).toEqual(NOTHING)
    expect([machine.visited, pipeline.upstream.cancelled]).toEqual([['Submit', 'Notify'], ['task-1']])
    expect(engines.counted()).toContain('upstream_orphan')
  })

  it('in Poll fetches no video, even if the task has finished', async () => {
    pipeline.upstream.script.poll = async () => {
      await sweepOverdue()
      return done()
    }
    const downloads: unknown[] = []
    whileDownloading = async () => downloads.push('a download')
    const { job } = await runJob()
    expect(await endOf(job)).toEqual(NOTHING)
    expect(downloads).toEqual([])
  })

  it('in Store keeps no object', async () => {
    whileDownloading = sweepOverdue
    const { job } = await runJob()
    expect(await endOf(job)).toEqual(NOTHING)
  })

  it('in Settle finds the job billed once by Reconcile', async () => {
    const Settle = async (step: Step) => {
      await sweepOverdue()
      return await step()
    }
    const { job } = await runJob({ Settle })
    expect(await endOf(job)).toEqual({ status: 'succeeded', spent: '0.42', objects: [job.videoKey] })
    expect(conflicts()).toEqual([])
  })
})
