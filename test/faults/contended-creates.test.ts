import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { formatCredits, type Microcredits, microcredits, parseCredits } from '#core/money.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant, readPartition } from '../engines/audit.ts'
import { inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { tableWithClient } from '../engines/test-table.ts'
import { ESTIMATE } from '../engines/video-jobs.ts'
import { createVideoMachine, startExecutions, type VideoMachine } from '../engines/video-machine.ts'
import { openCreateApi } from './create-api.ts'
import { reuseToken, stirConflicts } from './faulty-table.ts'

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
})
beforeEach(() => engines.reset())
afterAll(async () => {
  await Promise.all([engines.close(), executions.close()])
})

/** A pipeline that waits out contention in the time of its own clock, and the machine that its executions run on. */
async function openPipeline(
  credits = '100',
  mayStart = Promise.resolve(),
): Promise<{ pipeline: Pipeline; machine: VideoMachine }> {
  const config = { submit_wait_seconds: 0, trusted_origins: [engines.results.origin] }
  const opened = await engines.pipeline({ config, credits })
  const { context } = opened
  const pipeline = {
    ...opened,
    context: { ...context, table: tableWithClient({ ...context.table, pause: context.pause }) },
  }
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
  const Submit = async (step: () => Promise<unknown>) => {
    await mayStart
    return await step()
  }
  const machine = createVideoMachine(pipeline, { interpose: { Submit } })
  executions.use(machine)
  return { pipeline, machine }
}

async function balance({ context, tenant }: Pipeline) {
  const { available, held, spent } = (await getTenant(context.table, tenant.tenantId)).balance
  return { available: formatCredits(available), held: formatCredits(held), spent: formatCredits(spent) }
}

/** Three seconds at 0.14. */
const ACTUAL = parseCredits('0.42')
const times = (amount: Microcredits, count: number) => formatCredits(microcredits(amount * BigInt(count)))

const idOf = ({ text }: { text: string }) => String(JSON.parse(text).id)
const withStatus = <Answer extends { status: number }>(answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status)

describe('creates under heavy transaction conflicts', () => {
  /** With these dice one of six creates meets eight conflicts in a row. */
  const DICE = 19
  const CREATES = 6

  it('return a complete job or a 503 after eight attempts, and no job leaves credits held', async () => {
    const allCreated = Promise.withResolvers<void>()
    const { pipeline, machine } = await openPipeline('100', allCreated.promise)
    const create = await openCreateApi(pipeline)
    const random = seededRandom(DICE)
    const storm = stirConflicts(pipeline.context.table, () => random() < 0.6)
    const answers: Awaited<ReturnType<typeof create>>[] = []
    for (let created = 0; created < CREATES; created += 1) {
      answers.push(await create())
    }
    const refused = withStatus(answers, 503)
    const jobs = withStatus(answers, 201).map((answer) => ({ ...pipeline.tenant, jobId: idOf(answer) }))
    expect(refused).toHaveLength(1)
    expect(refused.every(({ headers }) => headers['retry-after'] === '1')).toBe(true)
    expect(jobs.length + refused.length).toBe(CREATES)
    expect(await balance(pipeline)).toMatchObject({ held: times(ESTIMATE, jobs.length) })
    allCreated.resolve()
    await Promise.all(jobs.map(({ jobId }) => machine.engine.whenEnded(jobId)))
    for (const job of jobs) {
      expect((await pipeline.read(job)).status).toBe('succeeded')
    }
    expect(Math.max(...storm.tries())).toBe(8)
    expect(await balance(pipeline)).toMatchObject({ held: '0', spent: times(ACTUAL, jobs.length) })
    const [job] = jobs
    expect(job === undefined ? ['no job'] : await pipeline.leftovers(job)).toEqual([])
  })

  it('return 503 with Retry-After after exactly eight attempts if the conflicts persist, with nothing written', async () => {
    const { pipeline } = await openPipeline()
    const create = await openCreateApi(pipeline)
    const storm = stirConflicts(pipeline.context.table, () => true)
    const answer = await create()
    expect(answer).toMatchObject({ status: 503, text: '{"error":"service unavailable"}' })
    expect(answer.headers).toMatchObject({ 'retry-after': '1' })
    expect(storm.tries()).toEqual([8])
    expect(await balance(pipeline)).toEqual({ available: '100', held: '0', spent: '0' })
    expect(await readPartition(pipeline.context.table, `T#${pipeline.tenant.tenantId}`)).toEqual([])
  })
})

describe('an idempotency token of two different calls', () => {
  it('is a logged 500, and the second call writes nothing', async () => {
    const { pipeline, machine } = await openPipeline()
    const create = await openCreateApi(pipeline)
    reuseToken(pipeline.context.table)
    const [first, second] = [await create(), await create()]
    expect(first.status).toBe(201)
    expect(second).toMatchObject({ status: 500, text: '{"error":"internal error"}' })
    await machine.engine.whenEnded(idOf(first))
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await balance(pipeline)).toEqual({ available: '99.3', held: '0.7', spent: '0' })
    expect(await auditTenant(pipeline.context.table, pipeline.tenant.tenantId)).toEqual([])
  })
})

describe('fifty concurrent creates with funds for ten', () => {
  it('return exactly ten 201 and forty 402, and the ledger balances', async () => {
    const { pipeline, machine } = await openPipeline('7')
    const create = await openCreateApi(pipeline)
    const answers = await Promise.all(Array.from({ length: 50 }, () => create()))
    const accepted = withStatus(answers, 201)
    expect([accepted.length, withStatus(answers, 402).length]).toEqual([10, 40])
    expect(new Set(accepted.map(idOf)).size).toBe(10)
    await Promise.all(accepted.map((answer) => machine.engine.whenEnded(idOf(answer))))
    expect(await balance(pipeline)).toEqual({ available: '2.8', held: '0', spent: '4.2' })
    const [job] = accepted
    expect(job && (await pipeline.leftovers({ ...pipeline.tenant, jobId: idOf(job) }))).toEqual([])
  })
})
