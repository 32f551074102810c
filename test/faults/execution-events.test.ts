import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatCredits, microcredits } from '#core/money.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { startCallbackReceiver } from '../engines/callback-receiver.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { createVideoMachine, type VideoMachine } from '../engines/run-video-machine.ts'
import { inTurn, succeeded } from '../engines/scripted-upstream.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { startExecutions } from '../engines/start-executions.ts'
import { requireReservation } from '../engines/video-jobs.ts'

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
let pipeline: Pipeline
let deliver: Reconcile
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
  receiver = await startCallbackReceiver()
  const config = { trusted_origins: [engines.results.origin], callback_allowlist: [receiver.origin] }
  pipeline = await engines.pipeline({ config })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
  deliver = await openReconcile()
})
afterAll(async () => {
  await Promise.all([engines.close(), executions.close(), receiver.stop()])
})

type Reconcile = (event: object) => Promise<void>

/** The deployed function over the pipeline's table, by the environment. Its clock is the real one. */
async function openReconcile(): Promise<Reconcile> {
  const file = join(mkdtempSync(join(tmpdir(), 'reelgate-faults-')), 'gateway.json')
  writeFileSync(file, JSON.stringify(pipeline.context.catalogue.config))
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: engines.tables.endpoint,
    TABLE_NAME: pipeline.context.table.name,
    GATEWAY_CONFIG_FILE: file,
  })
  const { handler } = await import('#lambdas/pipeline/reconcile/handler.ts')
  return handler
}

type Job = { readonly tenantId: string; readonly jobId: string }

/** What EventBridge delivers when an execution was aborted, and what the schedule delivers each minute. */
const eventOf = ({ tenantId, jobId }: Job) => ({
  source: 'aws.states',
  'detail-type': 'Step Functions Execution Status Change',
  detail: { name: jobId, status: 'ABORTED', input: JSON.stringify({ tenantId, jobId }) },
})
const MINUTE_EVENT = { source: 'aws.scheduler' }

type Delivery = (event: object) => Promise<unknown>

const DELIVERIES: readonly (readonly [string, Delivery])[] = [
  ['arrives once', (event) => deliver(event)],
  ['is lost and replaced by the schedule', () => deliver(MINUTE_EVENT)],
  ['arrives twice, one after the other', (event) => deliver(event).then(() => deliver(event))],
  ['arrives twice at once', (event) => Promise.all([deliver(event), deliver(event)])],
  ['arrives together with the schedule', (event) => Promise.all([deliver(event), deliver(MINUTE_EVENT)])],
]

/** A job whose execution is aborted in its first poll, a minute ago and more. */
async function breakExecution(name: string): Promise<{ job: Job; machine: VideoMachine }> {
  const createdAt = Math.trunc(Date.now() / 1000) - 120
  const job = await pipeline.create({ createdAt, callbackUrl: `${receiver.url}?${encodeURIComponent(name)}` })
  const Poll = async (step: () => Promise<unknown>, visit: number) => {
    if (visit === 1) {
      machine.engine.stop(job.jobId)
    }
    return await step()
  }
  const machine: VideoMachine = createVideoMachine(pipeline, { interpose: { Poll } })
  executions.use(machine)
  expect(await machine.run(job)).toMatchObject({ status: 'ABORTED' })
  return { job, machine }
}

it.each(DELIVERIES)('an event of a failed execution that %s leads to the same result', async (name, delivery) => {
  const { table } = pipeline.context
  const submitsBefore = pipeline.upstream.submitted.length
  const spentBefore = (await getTenant(table, pipeline.tenant.tenantId)).balance.spent
  const { job, machine } = await breakExecution(name)
  await delivery(eventOf(job))
  await machine.engine.whenEnded(`${job.jobId}-1`)
  const { balance } = await getTenant(table, pipeline.tenant.tenantId)
  expect({
    status: (await pipeline.read(job)).status,
    leftovers: await pipeline.leftovers(job),
    restarts: (await requireReservation(table, job)).restarts,
    executions: ['-1', '-2'].map((suffix) => machine.engine.find(job.jobId + suffix)?.status),
    submits: pipeline.upstream.submitted.length - submitsBefore,
    spent: formatCredits(microcredits(balance.spent - spentBefore)),
    callbacks: receiver.received.filter(({ body }) => body.includes(job.jobId)).length,
  }).toEqual({
    status: 'succeeded',
    leftovers: [],
    restarts: 1,
    executions: ['SUCCEEDED', undefined],
    submits: 1,
    spent: '0.42',
    callbacks: 1,
  })
})
