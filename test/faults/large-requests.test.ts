import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { loadVideoJobRequest } from '#lambdas/pipeline/step-context.ts'
import { pendingCleanUps } from '#store/due-index.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant, readPartition } from '../engines/audit.ts'
import { inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'
import { breakConnection, tableWithClient } from '../engines/test-table.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { createVideoMachine, startExecutions, type VideoMachine } from '../engines/video-machine.ts'
import { openCreateApi } from './create-api.ts'
import { faultyBucket } from './faulty-bucket.ts'
import { forgetTokens, holdRequest } from './faulty-table.ts'

/** The SDK's tries of one request times those of our own loop: none of them is answered. */
const TRIES = 24
const ELEVEN_MINUTES = 11 * 60
const FIVE_MINUTES = 5 * 60
const END_OF_TIME = 999_999_999_999_999

/** A prompt that is short and a reference that is not: it has to lie in the bucket. */
const BODY = {
  model: PER_SECOND_MODEL,
  prompt: 'a boat',
  image_urls: [`data:image/png;base64,${Buffer.alloc(300_000, 7).toString('base64')}`],
}

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
})
/** A request goes when its job ends: no job ends before the test has looked. */
let mayEnd: ReturnType<typeof Promise.withResolvers<void>>
let isAboutToEnd: ReturnType<typeof Promise.withResolvers<void>>
beforeEach(() => {
  engines.reset()
  mayEnd = Promise.withResolvers()
  isAboutToEnd = Promise.withResolvers()
})
afterEach(() => mayEnd.resolve())
afterAll(async () => {
  await Promise.all([engines.close(), executions.close()])
})

async function open(credits: string): Promise<{ pipeline: Pipeline; machine: VideoMachine }> {
  const config = { submit_wait_seconds: 0, trusted_origins: [engines.results.origin] }
  const opened = await engines.pipeline({ config, credits })
  const { context } = opened
  const pipeline = {
    ...opened,
    context: { ...context, table: tableWithClient({ ...context.table, pause: context.pause }) },
  }
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
  const Settle = async (step: () => Promise<unknown>) => {
    isAboutToEnd.resolve()
    await mayEnd.promise
    return await step()
  }
  const machine = createVideoMachine(pipeline, { interpose: { Settle } })
  executions.use(machine)
  return { pipeline, machine }
}

/** Objects of the tenant's requests. */
const stored = ({ tenant }: Pipeline) => engines.bucket.keys(`requests/${tenant.tenantId}/`)

/** Kinds of the tenant's rows. */
async function rows({ context, tenant }: Pipeline): Promise<string[]> {
  const items = await readPartition(context.table, `T#${tenant.tenantId}`)
  return items.map(({ SK }) => String(SK).split('#')[0] ?? '').sort()
}

async function pending({ context }: Pipeline): Promise<number> {
  let found = 0
  for await (const _ of pendingCleanUps(context.table, END_OF_TIME)) {
    found += 1
  }
  return found
}

async function sweepAfter(pipeline: Pipeline, seconds: number): Promise<void> {
  pipeline.clock.advance(seconds)
  await reconcile(pipeline.context, { all: false })
}

const idOf = ({ text }: { text: string }) => String(JSON.parse(text).id)

/** The pipeline with a bucket that lists what it is asked, and has faults. */
function withBucket(pipeline: Pipeline, faults: Parameters<typeof faultyBucket>[1] = {}) {
  const { bucket, asked } = faultyBucket(engines.bucket, faults)
  return { asked, pipeline: { ...pipeline, context: { ...pipeline.context, openBucket: () => bucket } } }
}

describe('a large request', () => {
  it('of a tenant without funds is never stored', async () => {
    const { pipeline } = await open('0.1')
    const { asked, pipeline: watched } = withBucket(pipeline)
    const create = await openCreateApi(watched)
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ body: BODY })))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(402))
    expect(asked).toEqual([])
    expect(await rows(pipeline)).toEqual([])
  })

  it('of a tenant at its limit of open jobs is never stored', async () => {
    const { pipeline } = await open('100')
    await changeTenant(pipeline.context.table, {
      tenantId: pipeline.tenant.tenantId,
      settings: { openJobsMax: 0 },
      actor: TESTER,
    })
    const { asked, pipeline: watched } = withBucket(pipeline)
    const create = await openCreateApi(watched)
    expect((await create({ body: BODY })).status).toBe(429)
    expect(asked).toEqual([])
    expect(await rows(pipeline)).toEqual([])
  })

  it('that loses the race for the last credits leaves no object, and the winner keeps its object', async () => {
    const { pipeline, machine } = await open('0.7')
    const create = await openCreateApi(pipeline)
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ body: BODY })))
    const [won, ...others] = answers.filter(({ status }) => status === 201)
    expect([others.length, answers.filter(({ status }) => status === 402).length]).toEqual([0, 7])
    const jobId = won === undefined ? '' : idOf(won)
    expect(await stored(pipeline)).toEqual([`requests/${pipeline.tenant.tenantId}/${jobId}.json`])
    expect(await rows(pipeline)).toEqual(['JOB', 'RESERVATION'])
    expect(await pending(pipeline)).toBe(0)
    mayEnd.resolve()
    await machine.engine.whenEnded(jobId)
    expect((await pipeline.read({ ...pipeline.tenant, jobId })).status).toBe('succeeded')
  })

  it('repeated under its idempotency key is one job and one object, even with an empty balance', async () => {
    const { pipeline } = await open('0.7')
    const { asked, pipeline: watched } = withBucket(pipeline)
    const create = await openCreateApi(watched)
    const first = await create({ body: BODY, idempotencyKey: 'k1' })
    const second = await create({ body: BODY, idempotencyKey: 'k1' })
    expect([first.status, second.status, idOf(second)]).toEqual([201, 201, idOf(first)])
    expect(asked.filter((operation) => operation === 'PutObject')).toHaveLength(1)
    expect(await stored(pipeline)).toHaveLength(1)
    const other = { ...BODY, prompt: 'another boat' }
    expect((await create({ body: other, idempotencyKey: 'k1' })).status).toBe(409)
  })
})

describe('a create whose function dies', () => {
  it('between its object and its reservation leaves an object that Reconcile deletes after five minutes', async () => {
    const { pipeline } = await open('100')
    const held = holdRequest(pipeline.context.table, '"reserve"')
    const create = await openCreateApi(pipeline)
    const dying = create({ body: BODY })
    await held.arrived
    expect(await stored(pipeline)).toHaveLength(1)
    await sweepAfter(pipeline, FIVE_MINUTES - 1)
    expect(await stored(pipeline)).toHaveLength(1)
    await sweepAfter(pipeline, 1)
    expect(await stored(pipeline)).toEqual([])
    expect(await rows(pipeline)).toEqual([])
    // It was not dead after all: no job comes to be without its request.
    held.release()
    expect(await dying).toMatchObject({ status: 503 })
    expect(await rows(pipeline)).toEqual([])
    expect(await pending(pipeline)).toBe(0)
    expect(await auditTenant(pipeline.context.table, pipeline.tenant.tenantId)).toEqual([])
  })

  it('while its object is being stored leaves no permanent object', async () => {
    const { pipeline } = await open('100')
    const faults = { PutObject: { status: 500, code: 'InternalError', times: 3, isDone: true } }
    const create = await openCreateApi(withBucket(pipeline, faults).pipeline)
    expect((await create({ body: BODY })).status).toBeGreaterThanOrEqual(500)
    expect(await stored(pipeline)).toHaveLength(1)
    await sweepAfter(pipeline, FIVE_MINUTES)
    expect([await stored(pipeline), await rows(pipeline), await pending(pipeline)]).toEqual([[], [], 0])
  })

  it('before it deletes the object of a refused request leaves the deletion to Reconcile', async () => {
    const { pipeline, machine } = await open('0.7')
    const faults = { DeleteObject: { status: 500, code: 'InternalError', times: 99 } }
    const create = await openCreateApi(withBucket(pipeline, faults).pipeline)
    const answers = await Promise.all([create({ body: BODY }), create({ body: BODY })])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 402])
    expect(await stored(pipeline)).toHaveLength(2)
    await isAboutToEnd.promise
    await sweepAfter(pipeline, FIVE_MINUTES)
    expect(await stored(pipeline)).toHaveLength(1)
    mayEnd.resolve()
    await Promise.all(answers.filter(({ status }) => status === 201).map((won) => machine.engine.whenEnded(idOf(won))))
    expect(await stored(pipeline)).toEqual([])
    expect(await pending(pipeline)).toBe(0)
  })
})

describe('a job whose reservation was committed but not confirmed', () => {
  it.each(['0.7', '100'])('keeps its large request, with %s credits granted', async (credits) => {
    const { pipeline } = await open(credits)
    const { table } = pipeline.context
    forgetTokens(table, () => pipeline.clock.milliseconds)
    breakConnection(table, '"reserve"', { kind: 'reply_lost', times: 1 })
    const pause = async () => pipeline.clock.advance(ELEVEN_MINUTES)
    const create = await openCreateApi(pipeline, { ...pipeline.context, pause })
    expect((await create({ body: BODY })).status).not.toBe(201)
    await expectOneWholeJob(pipeline)
  })

  it('keeps its large request if no attempt of the create was confirmed', async () => {
    const { pipeline } = await open('100')
    breakConnection(pipeline.context.table, '"reserve"', { kind: 'reply_lost', times: TRIES })
    const create = await openCreateApi(pipeline)
    expect((await create({ body: BODY })).status).toBe(503)
    await expectOneWholeJob(pipeline)
  })
})

/** The money is held, so the job is there, and so is all that it needs. */
async function expectOneWholeJob(pipeline: Pipeline): Promise<void> {
  const { table } = pipeline.context
  const { balance } = await getTenant(table, pipeline.tenant.tenantId)
  expect(formatCredits(balance.held)).toBe('0.7')
  expect(await rows(pipeline)).toEqual(['JOB', 'RESERVATION'])
  await sweepAfter(pipeline, FIVE_MINUTES)
  const [key = ''] = await stored(pipeline)
  const jobId = /([^/]+)\.json$/.exec(key)?.[1] ?? ''
  const request = await loadVideoJobRequest(pipeline.context, { ...pipeline.tenant, jobId })
  expect(request.image_urls).toEqual(BODY.image_urls)
}
