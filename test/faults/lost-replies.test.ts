import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { readPartition } from '../engines/audit.ts'
import { inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { breakConnection, tableWithClient } from '../engines/test-table.ts'
import { createVideoMachine, startExecutions, type VideoMachine } from '../engines/video-machine.ts'
import { type CreateApi, openCreateApi } from './create-api.ts'
import { startLossyProxy } from './faulty-connections.ts'
import { forgetTokens } from './faulty-table.ts'

/** Tries of one write in all: so many losses are a table that never answers. */
const TRIES = 8
const ELEVEN_MINUTES = 11 * 60

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
let stepFunctions: Awaited<ReturnType<typeof startLossyProxy>>
let pipeline: Pipeline
let machine: VideoMachine
let create: CreateApi
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
  stepFunctions = await startLossyProxy(process.env.AWS_ENDPOINT_URL_SFN ?? '')
  process.env.AWS_ENDPOINT_URL_SFN = stepFunctions.origin
})
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline({ config: { submit_wait_seconds: 0, trusted_origins: [engines.results.origin] } })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
  machine = createVideoMachine(pipeline)
  executions.use(machine)
  create = await openCreateApi(pipeline)
})
afterAll(async () => {
  await Promise.all([engines.close(), executions.close(), stepFunctions.stop()])
})

/** The jobs of the tenant, as the table holds them. */
async function jobs() {
  const { tenantId } = pipeline.tenant
  const rows = await readPartition(pipeline.context.table, `T#${tenantId}`)
  const ids = rows.flatMap(({ SK }) => /^JOB#(.+)$/.exec(String(SK))?.[1] ?? [])
  return ids.map((jobId) => ({ tenantId, jobId }))
}

async function oneJob() {
  const [job, ...others] = await jobs()
  if (job === undefined || others.length > 0) {
    throw new Error(`${others.length} jobs beside ${job?.jobId}`)
  }
  return job
}

async function balance() {
  const { available, held, spent } = (await getTenant(pipeline.context.table, pipeline.tenant.tenantId)).balance
  return [available, held, spent].map(formatCredits)
}

async function sweepAfter(seconds: number): Promise<void> {
  pipeline.clock.advance(seconds)
  await reconcile(pipeline.context, { all: false })
}

/** The job has gone all the way, over one execution and one submit. */
async function expectOneSuccess(): Promise<void> {
  const job = await oneJob()
  await machine.engine.whenEnded(job.jobId)
  expect((await pipeline.read(job)).status).toBe('succeeded')
  expect(machine.engine.find(`${job.jobId}-1`)).toBeUndefined()
  expect(pipeline.upstream.submitted).toHaveLength(1)
  expect(await balance()).toEqual(['99.58', '0', '0.42'])
  expect(await pipeline.leftovers(job)).toEqual([])
}

describe('a create whose reservation was committed but not confirmed', () => {
  it('is one job with one reservation, and a repeated idempotency key returns the same job', async () => {
    const { left } = breakConnection(pipeline.context.table, '"reserve"', { kind: 'reply_lost', times: TRIES })
    const lost = await create({ idempotencyKey: 'k1' })
    expect([lost.status, lost.headers['retry-after'], left()]).toEqual([503, '1', 0])
    const repeated = await create({ idempotencyKey: 'k1' })
    const { jobId } = await oneJob()
    expect(repeated.status).toBe(201)
    expect(JSON.parse(repeated.text)).toMatchObject({ id: jobId, status: 'queued' })
    expect(await balance()).toEqual(['99.3', '0.7', '0'])
    await sweepAfter(60)
    await expectOneSuccess()
  })

  it.each([undefined, 'k1'])(
    'is one job even if the token of the first attempt has expired (key: %s)',
    async (idempotencyKey) => {
      const { table } = pipeline.context
      forgetTokens(table, () => pipeline.clock.milliseconds)
      breakConnection(table, '"reserve"')
      const pause = async () => pipeline.clock.advance(ELEVEN_MINUTES)
      const slow = await openCreateApi(pipeline, { ...pipeline.context, pause })
      const { status } = await slow(idempotencyKey === undefined ? {} : { idempotencyKey })
      expect(status).toBe(idempotencyKey === undefined ? 500 : 201)
      expect(await balance()).toEqual(['99.3', '0.7', '0'])
      await sweepAfter(60)
      await expectOneSuccess()
    },
  )
})

describe('a settlement whose reply was lost', () => {
  it('is not repeated eleven minutes later, after its token has expired', async () => {
    const { table } = pipeline.context
    forgetTokens(table, () => pipeline.clock.milliseconds)
    const patient = {
      ...pipeline,
      context: { ...pipeline.context, table: tableWithClient({ ...table, pause: pipeline.context.pause }) },
    }
    const Settle = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 1) {
        breakConnection(table, '"settle"', { kind: 'reply_lost', times: TRIES })
      } else {
        pipeline.clock.advance(ELEVEN_MINUTES)
      }
      return await step()
    }
    machine = createVideoMachine(patient, { interpose: { Settle } })
    await machine.run(await pipeline.create())
    expect(machine.visited.filter((state) => state === 'Settle')).toHaveLength(2)
    await expectOneSuccess()
    expect(engines.counted()).not.toContain('resolution_conflict')
  })
})

describe('a start of an execution', () => {
  it('refused by Step Functions is repeated by the first run of Reconcile after a minute', async () => {
    executions.breakDown()
    expect((await create()).status).toBe(201)
    expect(machine.engine.find((await oneJob()).jobId)).toBeUndefined()
    executions.use(machine)
    await sweepAfter(60)
    await expectOneSuccess()
  })

  it('with a lost reply is one execution, which Reconcile leaves alone', async () => {
    const submitting = Promise.withResolvers<void>()
    machine = createVideoMachine(pipeline, {
      interpose: {
        Submit: async (step) => {
          await submitting.promise
          return await step()
        },
      },
    })
    executions.use(machine)
    const start = jest.spyOn(machine.engine, 'start')
    stepFunctions.loseReplies(1)
    expect((await create()).status).toBe(201)
    await sweepAfter(60)
    expect(stepFunctions.left()).toBe(0)
    expect(start).toHaveBeenCalledTimes(1)
    submitting.resolve()
    await expectOneSuccess()
  })
})
