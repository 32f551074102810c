import { BatchWriteCommand, DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { deliverAlerts, findAlerts } from '#lambdas/pipeline/reconcile/alerts.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { openStepContext } from '#lambdas/pipeline/step-context.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import { changeSwitchesTogether, readSwitches } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { audit } from '../../lib/cli/admin/audit.ts'
import { keySet } from '../../lib/cli/admin/keys.ts'
import { tenantBudget } from '../../lib/cli/admin/tenants.ts'
import { usage } from '../../lib/cli/admin/usage.ts'
import { runCommand } from '../cli/admin/run-command.ts'
import type { Cost } from './cost-meter.ts'
import { type Answer, CHANNEL, type MeteredService, MODEL, runMeteredMachine } from './metered-service.ts'
import { TESTER } from './video-jobs.ts'

/** Runs something and keeps what it cost under a name. */
export type Recorder = (name: string, run: () => Promise<unknown>) => Promise<void>

/** An answer with another status than the one that is to be measured. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError'
}

/** The body of an answer with this status. @throws UnexpectedAnswerError for any other. */
export async function expectStatus(status: number, answer: Promise<Answer>): Promise<Answer['body']> {
  const received = await answer
  if (received.status !== status) {
    throw new UnexpectedAnswerError(`expected ${status}: ${JSON.stringify(received)}`)
  }
  return received.body
}

type Job = { readonly tenantId: string; readonly jobId: string }
type Caller = { readonly tenantId: string; readonly key: string }

type Steps = {
  readonly record: Recorder
  /** Creates a job, which is submitted. */
  readonly create: (caller: Caller) => Promise<Job>
  /** The poll that finds the video, and the store of the video. */
  readonly finish: (job: Job) => Promise<void>
}

/** What budgets, usage, alerts, audit and switches cost: a tenant with a budget, whose key has a budget too. */
export async function recordControls(service: MeteredService, { record, create, finish }: Steps): Promise<void> {
  // The table with the meter, which `service.table` has not.
  const { table } = openStepContext()
  const caller = await service.openTenant('budgeted', '1000')
  await runCommand(tenantBudget, { table, options: { tenant: 'budgeted', amount: '1.6', period: 'month' } })
  const [key = ''] = await keysOf(service, caller)
  await runCommand(keySet, { table, options: { key, budget: '1.6/day' } })
  await record('alerts, two budgets below their thresholds', runAlerts)
  let job: Job = { tenantId: '', jobId: '' }
  const createOne = async () => {
    job = await create(caller)
  }
  // An instance learns from a refusal that a tenant has a budget.
  await record('create, budgets of key and tenant, first in an instance', createOne)
  const settle = () => service.invoke('pipeline/settle-video-job', job)
  await finish(job)
  await settle()
  await record('create, budgets of key and tenant', createOne)
  await finish(job)
  await record('settle, budgets of key and tenant', settle)
  await record('alerts, two budgets cross a threshold', runAlerts)
  await record('alerts, two budgets that stay above it', runAlerts)
  await recordReads(service, { caller, jobId: job.jobId }, record)
  await recordSwitches(service, table, record)
  await record('admin usage', () => runCommand(usage, { table, options: { tenant: 'budgeted' } }))
  await record('admin audit', () => runCommand(audit, { table }))
}

async function recordReads(
  service: MeteredService,
  { caller, jobId }: { readonly caller: Caller; readonly jobId: string },
  record: Recorder,
): Promise<void> {
  const call = (method: string, path: string, body?: object) =>
    expectStatus(200, service.call(method, path, body === undefined ? caller : { ...caller, body }))
  await record('usage', () => call('GET', '/v1/usage'))
  await record('balance', () => call('GET', '/v1/balance'))
  await record('receipt', () => call('GET', `/v1/video/generations/${jobId}/receipt`))
  await record('quote', () => call('POST', '/v1/video/quotes', { model: MODEL, prompt: 'a paper city', duration: 5 }))
}

async function recordSwitches({ meter, switches }: MeteredService, table: Table, record: Recorder): Promise<void> {
  const changer = { actor: TESTER, at: Date.now() }
  const channel = { kind: 'channel', id: CHANNEL } as const
  const withReads = async (run: () => Promise<unknown>) => {
    switches.take()
    await run()
    meter.add(switches.take())
  }
  await record('a switch is set', () =>
    withReads(() => changeSwitchesTogether(table, [{ ...channel, action: 'disable' }], changer)),
  )
  await record('the switches are read', () => withReads(() => readSwitches(table)))
  await changeSwitchesTogether(table, [{ ...channel, action: 'clear' }], changer)
}

async function keysOf({ table }: MeteredService, { tenantId }: Caller): Promise<string[]> {
  return (await listApiKeys(table)).filter((key) => key.tenantId === tenantId).map(({ keyId }) => keyId)
}

/** The part of a run of Reconcile that looks at budgets and delivers. */
async function runAlerts(): Promise<void> {
  const context = openStepContext()
  await findAlerts(context, () => true)
  await deliverAlerts(context, () => true)
}

/** A key that may send one request at a time, and a tenant that may have no open job. */
export async function recordLimits(
  service: MeteredService,
  { body, record }: { readonly body: object; readonly record: Recorder },
): Promise<void> {
  const limited = await service.openTenant('limited', '1', 5)
  await record('create, key with a rate, invalid request: 400', () =>
    expectStatus(400, service.request('POST', '', { ...limited, body: {} })),
  )
  await record('create, key above its rate: 429', () =>
    expectStatus(429, service.request('POST', '', { ...limited, body })),
  )
  const full = await service.openTenant('full', '1000')
  await changeTenant(service.table, { tenantId: full.tenantId, settings: { openJobsMax: 0 }, actor: TESTER })
  await record('create, too many open jobs: 429', () =>
    expectStatus(429, service.request('POST', '', { ...full, body })),
  )
}

/** Jobs that a batch writes at once. */
const BATCH_MAX = 25

/** A tenant with as many jobs as wanted, each like the one given. */
export async function openTenantWithJobs({ table, openTenant }: MeteredService, model: Job, count: number) {
  const caller = await openTenant(`n${count}`, '1')
  const Key = tableKeys.job(model.tenantId, model.jobId)
  const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }))
  const items = Array.from({ length: count }, () => ({ ...Item, ...tableKeys.job(caller.tenantId, uuidv7()) }))
  for (let first = 0; first < count; first += BATCH_MAX) {
    const puts = items.slice(first, first + BATCH_MAX).map((each) => ({ PutRequest: { Item: each } }))
    await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: puts } }))
  }
  return caller
}

export type OperationCosts = {
  readonly operations: Readonly<Record<string, Cost>>
  /** One job from its creation to its callback, with what its client asks meanwhile. */
  readonly wholeJob: {
    readonly polls: number
    readonly gets: number
    readonly statesEntered: number
    readonly cost: Cost
  }
}

/** Runs every operation and every step once, over the deployed handlers, and says what each asked of AWS. */
export async function measureOperationCosts(service: MeteredService): Promise<OperationCosts> {
  const { operations, wholeJob } = await measureVideoJobCosts(service)
  const controls: Record<string, Cost> = {}
  await recordControls(service, {
    record: recordIn(service, controls),
    create: async (owner) => (await create(service, owner)).job,
    finish: (created) => finish(service, created),
  })
  return { operations: { ...operations, ...controls }, wholeJob }
}

function recordIn(service: MeteredService, costs: Record<string, Cost>): Recorder {
  return async (name, run) => {
    costs[name] = await service.meter.apart(run)
  }
}

/** The operations and steps of video jobs alone, which functions of the stack carry out. */
export async function measureVideoJobCosts(service: MeteredService): Promise<OperationCosts> {
  const caller = await service.openTenant('tenant', '1000')
  const operations: Record<string, Cost> = {}
  const reconciles: Record<string, Cost> = {}
  const record = recordIn(service, operations)
  await recordReconcile(service, caller, recordIn(service, reconciles))
  await recordRefusals(service, record)
  await recordLimits(service, { body: createBody(service), record })
  const job = await recordPipeline(service, caller, record)
  await record('get, key not seen before', () => expectStatus(200, service.request('GET', `/${job.jobId}`, caller)))
  await record('get', () => expectStatus(200, service.request('GET', `/${job.jobId}`, caller)))
  await recordLists(service, job, record)
  await recordDeletions(service, { caller, job }, record)
  return { operations: { ...operations, ...reconciles }, wholeJob: await runWholeJob(service, caller) }
}

/** A short prompt, as most are, with a callback. */
function createBody(service: MeteredService): object {
  return { model: MODEL, prompt: 'a paper city lights up at night', duration: 5, callback_url: service.callbackUrl }
}

/** Creates a job; its submit is done, and metered apart, before the create looks for it. */
async function create(service: MeteredService, caller: Caller, headers: Readonly<Record<string, string>> = {}) {
  let submit: Cost | undefined
  service.beginExecutionsBy(async (input) => {
    submit = await service.meter.apart(() => service.invoke('pipeline/submit-video-job', input))
  })
  const { id = '' } = await expectStatus(
    201,
    service.request('POST', '', { ...caller, body: createBody(service), headers }),
  )
  return { job: { tenantId: caller.tenantId, jobId: id }, submit }
}

async function recordRefusals(service: MeteredService, record: Recorder): Promise<void> {
  const poor = await service.openTenant('poor', '0.01')
  const body = createBody(service)
  await record('create, malformed key: 401', () => expectStatus(401, service.request('POST', '', { key: '', body })))
  await record('create, unknown key: 401', () =>
    expectStatus(401, service.request('POST', '', { key: 'no-such-key', body })),
  )
  await record('create, invalid request: 400', () =>
    expectStatus(400, service.request('POST', '', { ...poor, body: {} })),
  )
  await record('create, too little quota: 402', () => expectStatus(402, service.request('POST', '', { ...poor, body })))
}

/** Every step of one job that succeeds, and of one that fails. */
async function recordPipeline(service: MeteredService, caller: Caller, record: Recorder): Promise<Job> {
  const { upstream, invoke } = service
  let created: Awaited<ReturnType<typeof create>> | undefined
  await record('create', async () => {
    created = await create(service, caller)
  })
  const headers = { 'idempotency-key': 'once' }
  await record('create with an idempotency key', () => create(service, caller, headers))
  await record('create, repeated idempotency key', () => create(service, caller, headers))
  if (created?.submit === undefined) {
    throw new UnexpectedAnswerError('no execution was started')
  }
  const { job, submit } = created
  await record('submit', async () => service.meter.add(submit))
  const poll = (polled: Job) => pollAlone(service, polled)
  await service.backdateSubmit(job)
  upstream.nextStates('running')
  await record('poll, changed', await poll(job))
  await record('poll, unchanged', await poll(job))
  upstream.nextStates('succeeded')
  await record('poll, succeeded', await poll(job))
  await record('store', () => invoke('pipeline/store-video', job))
  await record('settle', () => invoke('pipeline/settle-video-job', job))
  await record('notify', () => invoke('pipeline/notify', job))
  await record('notify, sent before', () => invoke('pipeline/notify', job))
  const { job: failing } = await create(service, caller)
  upstream.nextStates('failed')
  const pollOnce = await poll(failing)
  await record('poll, failed', () => pollOnce().catch(() => {}))
  await record('fail', () =>
    invoke('pipeline/fail-video-job', { ...failing, failure: { Error: 'UpstreamFailedError' } }),
  )
  return job
}

/** A poll whose channel was not polled a moment before, as it is while a channel is not at its limit. */
async function pollAlone({ table, invoke }: MeteredService, job: Job): Promise<() => Promise<unknown>> {
  const Key = tableKeys.pollBucket(CHANNEL)
  await table.client.send(new DeleteCommand({ TableName: table.name, Key }))
  return () => invoke('pipeline/poll-video-job', { ...job, next: { waitSeconds: 9 } })
}

/** Makes a job ready to settle. */
async function finish(service: MeteredService, job: Job): Promise<void> {
  await service.backdateSubmit(job)
  service.upstream.nextStates('succeeded')
  const poll = await pollAlone(service, job)
  await poll()
  await service.invoke('pipeline/store-video', job)
}

async function recordLists(service: MeteredService, job: Job, record: Recorder): Promise<void> {
  for (const [limit, count] of [
    [20, 20],
    [100, 1000],
  ] as const) {
    const caller = await openTenantWithJobs(service, job, count)
    const list = async () => {
      const { data = [] } = await expectStatus(200, service.request('GET', `?limit=${limit}`, caller))
      if (data.length !== limit) {
        throw new UnexpectedAnswerError(`${data.length} jobs of ${limit}`)
      }
    }
    await record(`list, ${limit} of ${count}`, list)
  }
}

async function recordDeletions(
  service: MeteredService,
  { caller, job }: { caller: Caller; job: Job },
  record: Recorder,
): Promise<void> {
  const { job: running } = await create(service, caller)
  await record('delete, running', () => expectStatus(200, service.request('DELETE', `/${running.jobId}`, caller)))
  await record('delete, succeeded', () => expectStatus(200, service.request('DELETE', `/${job.jobId}`, caller)))
}

/** Every tenth minute Reconcile counts the jobs of all channels as well. */
const MINUTE = 60_000
const isRecountMinute = (milliseconds: number) => Math.trunc(milliseconds / MINUTE) % 10 === 0

/** Over a table without jobs, but for the one that is due. */
async function recordReconcile(service: MeteredService, caller: Caller, record: Recorder): Promise<void> {
  const runAt = (nowMilliseconds: number) =>
    reconcile({ ...openStepContext(), nowMilliseconds: () => nowMilliseconds }, { all: false })
  const minutes = Array.from({ length: 12 }, (_, index) => Date.now() + (index + 2) * MINUTE)
  const quiet = minutes.find((minute) => !isRecountMinute(minute)) ?? 0
  await record('reconcile, nothing due', () => runAt(quiet))
  await record('reconcile, nothing due, with the recount', () => runAt(minutes.find(isRecountMinute) ?? 0))
  await create(service, caller)
  await record('reconcile, one job due', () => runAt(quiet))
}

const WHOLE_JOB = { polls: 8, gets: 12 } as const

/** Through the deployed definition, from the request that creates the job to the callback. */
async function runWholeJob(service: MeteredService, caller: Caller): Promise<OperationCosts['wholeJob']> {
  const { polls, gets } = WHOLE_JOB
  let statesEntered: Promise<number> | undefined
  service.upstream.nextStates('queued', ...Array.from({ length: polls - 2 }, () => 'running' as const), 'succeeded')
  service.beginExecutionsBy(async (input) => {
    const execution = runMeteredMachine(service, input)
    statesEntered = execution.statesEntered
    await execution.submitted
  })
  const cost = await service.meter.apart(async () => {
    const { id } = await expectStatus(201, service.request('POST', '', { ...caller, body: createBody(service) }))
    for (let get = 0; get < gets; get += 1) {
      await expectStatus(200, service.request('GET', `/${id}`, caller))
    }
    await statesEntered
  })
  return { polls, gets, cost, statesEntered: (await statesEntered) ?? 0 }
}
