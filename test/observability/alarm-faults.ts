import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { CountedFact } from '#core/measures.ts'
import { beginSignIn } from '#lambdas/admin-api/sign-in/sessions.ts'
import { reconcile, summarize } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { failVideoJob, resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { submitVideoJob } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { putAlert } from '#store/alerts/alerts.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { createJobUpstreamHttp, type UpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount, type PollOutcome } from '#upstream/providers/video-account.ts'
import { inTurn, type Pipeline, running, succeeded } from '../engines/pipeline.ts'
import { CHAT, chatAnswer, type RelayRig, sendJson } from '../engines/relay-rig.ts'
import type { Engines } from '../engines/start-engines.ts'
import { settle } from '../engines/video-jobs.ts'
import { createVideoMachine, type VideoMachine } from '../engines/video-machine.ts'
import { adminEvent, servingAll, tableWithSession } from '../middleware/admin-exchange.ts'
import { context } from '../middleware/api-exchange.ts'
import { openRelayingTenant } from '../store/relay-ledger/relaying-tenant.ts'

/** What faults happen to. */
export type FaultStage = {
  readonly engines: Engines
  readonly executions: { use(machine: VideoMachine): void }
  readonly relay: RelayRig
  readonly http: UpstreamHttp
}

type Fault = (stage: FaultStage) => Promise<unknown>
type Usage = Readonly<Record<string, unknown>>

const MINUTE = 60
const HOUR = 3600

/** Bytes of a chat answer that is held whole, of which a stream can be made; see `ANSWER_BYTES_MAX` of `create-chat-completion.ts`. */
const LONGEST_CHAT_BYTES = 32 * 1024 * 1024

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:9'

async function open({ engines, executions }: FaultStage, usage: Usage = { seconds: 3 }): Promise<Pipeline> {
  const pipeline = await engines.pipeline({ config: { callback_allowlist: [NOBODY, engines.results.origin] } })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), ...usage }))
  executions.use(createVideoMachine(pipeline))
  return pipeline
}

/** A whole job with one thing wrong. */
function job(change: (pipeline: Pipeline) => void, members?: Usage): Fault {
  return async (stage) => {
    const pipeline = await open(stage, members)
    change(pipeline)
    await createVideoMachine(pipeline).run(await pipeline.create())
  }
}

/** A whole job whose upstream reports this. */
const usage = (members: Usage): Fault => job(() => undefined, members)

type Before = (pipeline: Pipeline, job: NewVideoJob, stage: FaultStage) => Promise<unknown>

/** One run of Reconcile, so many seconds after a job was made. */
function reconcileAfter(seconds: number, before: Before = async () => {}): Fault {
  return async (stage) => {
    const pipeline = await open(stage)
    await before(pipeline, await pipeline.create(), stage)
    pipeline.clock.advance(seconds)
    await reconcile(pipeline.context, { all: true })
  }
}

/** A reservation of a request that nobody settles, found after so many seconds. */
function abandonedRequest(seconds: number): Fault {
  return async (stage) => {
    const { context, clock } = await open(stage)
    const tenant = await openRelayingTenant(context.table)
    const ledger = new RelayLedger(context.table, { clock: context, patienceMilliseconds: 0 })
    await ledger.reserve(tenant.request('1', { reservedAt: clock.milliseconds }))
    clock.advance(seconds)
    await reconcile(context, { all: false })
  }
}

/** An alert for a tenant whose receiver is away for all three tries. */
const refuseAlert: Fault = async (stage) => {
  const { context, clock, tenant } = await open(stage)
  const { tenantId } = tenant
  await context.table.transact({
    url: {
      Update: {
        Key: tableKeys.tenant(tenantId),
        UpdateExpression: 'SET alertUrl = :url',
        ExpressionAttributeValues: { ':url': `${NOBODY}/alerts` },
      },
    },
    alert: putAlert({ tenantId, type: 'balance.low', at: clock.milliseconds, data: { tenant: tenantId } }),
  })
  for (const seconds of [0, 60, 300]) {
    clock.advance(seconds)
    await reconcile(context, { all: false })
  }
}

/** Writes what only a hand could write. */
async function spoil(
  { context: { table } }: Pipeline,
  Key: Readonly<Record<string, string>>,
  member: string,
  value: unknown,
) {
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key,
      UpdateExpression: 'SET #member = :value',
      ExpressionAttributeNames: { '#member': member },
      ExpressionAttributeValues: { ':value': value },
    }),
  )
}

const spoilRecord: Before = (pipeline, { tenantId, jobId }) =>
  spoil(pipeline, tableKeys.job(tenantId, jobId), 'status', 'odd')

const spoilCount: Before = async (pipeline, made, { executions }) => {
  // The execution that Reconcile starts meanwhile must not move the count.
  executions.use(createVideoMachine(pipeline, { interpose: { Submit: async () => ({ step: 'done' }) } }))
  const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
  await claimSubmit(pipeline.context.table, { job: made, channel, nowSeconds: made.createdAt })
  await spoil(pipeline, tableKeys.channel('main'), 'open', 7)
}

const refuseSummary: Fault = async (stage) => {
  const { context } = await open(stage)
  const table = { ...context.table, updateItem: () => Promise.reject(new Error('no table')) }
  process.env.CONSOLE_SUMMARY = 'stored'
  await summarize({ ...context, table }, { near: undefined, hasTime: () => true })
  delete process.env.CONSOLE_SUMMARY
}

const resolveTwice: Fault = async (stage) => {
  const pipeline = await open(stage)
  const { table } = pipeline.context
  const interpose = {
    Store: () => Promise.reject(new Error('stopped')),
    Fail: async () => ({}),
    Notify: async () => ({}),
  }
  const made = await pipeline.create()
  await createVideoMachine(pipeline, { interpose }).run(made)
  await resolveVideoJob(made, pipeline.context, async (record, reservation) => {
    await resolveReservation(table, { job: record, reservation, resolution: settle('0.1'), nowMilliseconds: 1 })
    return settle('0.5')
  })
}

const unreachable: Fault = async (stage) => {
  const pipeline = await open(stage)
  const openAccount: typeof pipeline.context.openAccount = async (channel, { requestId }) =>
    openVideoAccount(channel, {
      credential: async () => 'key',
      http: createJobUpstreamHttp(stage.http, { channelId: channel.id, requestId }),
    })
  const context = { ...pipeline.context, openAccount }
  await submitVideoJob(await pipeline.create(), context)
}

/** One receiver takes its callback, and nobody is there for the other. */
const callbackToNobody: Fault = async (stage) => {
  const pipeline = await open(stage)
  for (const callbackUrl of [stage.engines.results.url('/video.mp4'), `${NOBODY}/cb`]) {
    await createVideoMachine(pipeline).run(await pipeline.create({ callbackUrl }))
  }
}

/** One chat that the upstream answers so. */
function relayed(answer: object, { status = 200, stream = false } = {}): Fault {
  return async ({ relay }) => {
    relay.upstreams[0]?.answerWith((response) => sendJson(response, answer, status))
    await relay.send({ model: CHAT, stream, messages: [{ role: 'user', content: 'hello' }] })
  }
}

/** An operation of the admin API that throws what nobody expects. */
const brokenConsole: Fault = async () => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  const broken = () => Promise.reject(new TypeError('broken'))
  const handle = adminHandler('write', servingAll(broken), { openTable: tableWithSession() })
  await handle(adminEvent('POST', '/admin/v1/keys', { body: '{}' }), context)
}

const refusedSignIn: Fault = async (stage) => {
  const { context: pipeline } = await open(stage)
  const event = adminEvent('POST', '/admin/v1/session')
  await (await beginSignIn(pipeline.table, event, Date.now())).recordRefusal('wrong key')
}

const unknownStatus: PollOutcome = { kind: 'running', text: '{"task_status":"DREAMING"}', isKnownStatus: false }

/** For each fact that shares its metric and alarm with others, a fault that it is counted for. */
export const SHARED_FAULTS = {
  internal_failure: async (stage) => {
    const pipeline = await open(stage)
    await failVideoJob({ ...(await pipeline.create()), failure: { Error: 'TypeError' } }, pipeline.context)
  },
  resolution_conflict: resolveTwice,
  upstream_orphan: job(({ upstream }) => {
    upstream.script.submit = () => ({ kind: 'unknown', reason: 'timeout' })
  }),
  channel_recounted: reconcileAfter(0, spoilCount),
  alert_undelivered: refuseAlert,
  channel_refused: job(({ upstream }) => {
    upstream.script.submit = () => ({ kind: 'channel_refused', reason: 'HTTP 401', code: 'upstream_auth' })
  }),
  unknown_upstream_status: job((pipeline) => {
    pipeline.upstream.script.poll = inTurn(unknownStatus, succeeded({ video_url: `${NOBODY}/video.mp4` }))
  }),
  usage_above_bound: usage({ seconds: 3600 }),
  reply_cut_short: relayed(chatAnswer({ filler: 'a'.repeat(LONGEST_CHAT_BYTES) }), { stream: true }),
  result_refused: job(() => undefined, { video_url: `${NOBODY}/private.mp4` }),
} as const satisfies Partial<Record<CountedFact, Fault>>

/** For each alarm on what the functions count, a fault that sets it off, through the code that runs in production. */
export const ALARM_FAULTS: Readonly<Record<string, Fault>> = {
  Irregularity: SHARED_FAULTS.upstream_orphan,
  Overdraft: usage({ seconds: 10 }),
  UsageRefused: usage({ seconds: -5 }),
  'ChannelFault-channel-0': relayed(chatAnswer({ usage: { prompt_tokens: 1e9, completion_tokens: 1e9 } })),
  'ChannelFault-main': SHARED_FAULTS.result_refused,
  BilledAtEstimate: relayed(chatAnswer({ usage: undefined })),
  ReservationsExpired: abandonedRequest(16 * MINUTE),
  ServiceFault: SHARED_FAULTS.internal_failure,
  JobsFailing: job(({ upstream }) => {
    upstream.script.submit = () => ({ kind: 'rejected', message: 'no', text: '{}' })
  }),
  LateTasks: job((pipeline) => {
    pipeline.upstream.script.poll = () => {
      pipeline.clock.advance(HOUR)
      return running()
    }
  }),
  StoreFailed: async (stage) => {
    const pipeline = await open(stage, { video_url: stage.engines.results.url('/gone.mp4') })
    await createVideoMachine(pipeline, { interpose: { Fail: async () => ({}) } }).run(await pipeline.create())
  },
  CallbacksFailing: callbackToNobody,
  UpstreamUnreachable: unreachable,
  RelayFailing: relayed({ error: { message: 'down' } }, { status: 500 }),
  OldestJob: reconcileAfter(13 * HOUR),
  OldestRequest: abandonedRequest(HOUR),
  ReconcileItems: reconcileAfter(MINUTE, spoilRecord),
  SummaryNotWritten: refuseSummary,
  ExecutionsRestarted: reconcileAfter(MINUTE),
  ConsoleErrors: brokenConsole,
  SignInsRefused: refusedSignIn,
}
