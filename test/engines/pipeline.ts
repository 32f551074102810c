import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import type { CancelOutcome, VideoResult } from '#core/providers/video-provider.ts'
import { cleanUpDeletedJob } from '#lambdas/pipeline/delete-video-job.ts'
import { requireVideoJob, type StepContext } from '#lambdas/pipeline/step-context.ts'
import type { SubmitContext } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import type { Bucket } from '#store/bucket/bucket.ts'
import { dueReservations, pendingCleanUps } from '#store/due-index.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { readChannelCount } from '#store/jobs/channels.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import type { PollOutcome, SubmitOutcome, VideoAccount } from '#upstream/providers/video-account.ts'
import { auditTenant } from './audit.ts'
import { seededRandom } from './seeded-random.ts'
import { testCatalogue, unswitched } from './test-catalogue.ts'
import type { TableWithClient } from './test-table.ts'
import { openTenant, requireReservation, reserveJob, type TestTenant } from './video-jobs.ts'

type Answer<Outcome> = Outcome | Promise<Outcome>

/** What the upstreams of a test do; `attempt` counts the calls of one kind from 1. */
type Script = {
  submit: (channelId: string, attempt: number) => Answer<SubmitOutcome>
  poll: (attempt: number) => Answer<PollOutcome>
  cancel: (attempt: number) => Answer<CancelOutcome>
}

/** Upstreams that do as they are told and remember what they were asked. */
export class ScriptedUpstream {
  readonly submitted: string[] = []
  polls = 0
  readonly cancelled: string[] = []
  /** Channels whose credential cannot be read. */
  readonly closed = new Set<string>()
  script: Script = { submit: () => accepted(), poll: () => running(), cancel: () => 'refused' }

  async open({ id }: VideoChannel): Promise<VideoAccount> {
    if (this.closed.has(id)) {
      throw new Error('no credential')
    }
    return {
      submit: async () => {
        this.submitted.push(id)
        return await this.script.submit(id, this.submitted.length)
      },
      poll: async () => {
        this.polls += 1
        return await this.script.poll(this.polls)
      },
      cancel: async (taskId) => {
        this.cancelled.push(taskId)
        return await this.script.cancel(this.cancelled.length)
      },
    }
  }
}

/** Outcomes one after the other; the last one is repeated. */
export function inTurn<Outcome>(...outcomes: readonly Outcome[]): (...call: readonly unknown[]) => Outcome {
  let calls = 0
  return () => {
    const outcome = outcomes[Math.min(calls, outcomes.length - 1)]
    calls += 1
    if (outcome === undefined) {
      throw new RangeError('the script is empty')
    }
    return outcome
  }
}

const TASK_ID = 'task-1'
export const SUBMIT_TEXT = '{"task_id":"task-1","n":5.0}'

export function accepted(text = SUBMIT_TEXT): SubmitOutcome {
  return { kind: 'accepted', taskId: TASK_ID, text }
}

export function running(text = '{"task_status":"RUNNING"}'): PollOutcome {
  return { kind: 'running', text, isKnownStatus: true }
}

/** A success answer; `body` members: video_url, tokens, seconds (billable), length (of the video), resolution. */
export function succeeded(body: Readonly<Record<string, unknown>>): PollOutcome {
  const text = JSON.stringify(body)
  return { kind: 'succeeded', text, result: readResult(text) }
}

export function readResult(text: string): VideoResult {
  const body: Record<string, unknown> = JSON.parse(text)
  const word = (name: string) => (body[name] === undefined ? undefined : String(body[name]))
  return {
    videoUrl: word('video_url'),
    completionTokens: word('tokens'),
    billableSeconds: word('seconds'),
    outputSeconds: word('length'),
  }
}

type JobKey = { readonly tenantId: string; readonly jobId: string }

/** A clock that moves when told. Starts at the real time, so that job ids and signatures agree with it. */
class TestClock {
  milliseconds = Date.now()

  get seconds(): number {
    return Math.trunc(this.milliseconds / 1000)
  }

  advance(seconds: number): void {
    this.milliseconds += seconds * 1000
  }
}

type TestContext = SubmitContext & { readonly table: TableWithClient }

/** The video pipeline of one test: real stores, its own clock, dice, upstreams and tenant. */
export type Pipeline = {
  readonly context: TestContext
  readonly clock: TestClock
  readonly upstream: ScriptedUpstream
  readonly tenant: TestTenant
  readonly create: (changes?: Partial<NewVideoJob>) => Promise<NewVideoJob>
  /** A job that the upstream of channel `main` has accepted. */
  readonly createAccepted: (changes?: Partial<NewVideoJob>) => Promise<NewVideoJob>
  readonly read: (job: JobKey) => Promise<VideoJob>
  /** What the tenant has been billed, in credits. */
  readonly spent: () => Promise<string>
  /** What the API does on DELETE. */
  readonly remove: (job: JobKey) => Promise<void>
  /** What is left open of a job that should be over; empty when nothing is. */
  readonly leftovers: (job: JobKey) => Promise<string[]>
}

type PipelineOptions = {
  readonly table: TableWithClient
  readonly bucket: Bucket
  readonly catalogue?: Catalogue
  readonly credits?: string
}

const LATER_THAN_ANYTHING = 999_999_999_999_999

export async function createPipeline({
  table,
  bucket,
  catalogue = testCatalogue(),
  credits,
}: PipelineOptions): Promise<Pipeline> {
  const clock = new TestClock()
  const upstream = new ScriptedUpstream()
  const context: TestContext = {
    table,
    openBucket: () => bucket,
    catalogue,
    currentCatalogue: unswitched(catalogue),
    nowMilliseconds: () => clock.milliseconds,
    pause: async (milliseconds) => clock.advance(milliseconds / 1000),
    random: seededRandom(7),
    openAccount: (channel) => upstream.open(channel),
    readResult: (_channel, text) => readResult(text),
  }
  const tenant = await openTenant(table, credits)
  const read = (job: JobKey) => requireVideoJob(table, job)
  const create = (changes: Partial<NewVideoJob> = {}) =>
    reserveJob(table, tenant, { createdAt: clock.seconds, ...changes })
  return {
    context,
    clock,
    upstream,
    tenant,
    read,
    create,
    createAccepted: async (changes) => {
      const job = await create(changes)
      const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
      await claimSubmit(table, { job, channel, nowSeconds: job.createdAt })
      await recordAccepted(table, job, {
        taskId: 'task',
        submitText: { inline: '{}' },
        acceptedAt: Math.trunc(Date.now() / 1000),
      })
      return job
    },
    spent: async () => formatCredits((await getTenant(table, tenant.tenantId)).balance.spent),
    remove: async (job) => {
      const deleted = await markDeleted(table, { tenantId: job.tenantId, jobId: job.jobId }, clock.milliseconds)
      if (deleted !== undefined && isTerminal(deleted)) {
        await cleanUpDeletedJob(context, deleted)
      }
    },
    leftovers: (job) => findLeftovers(job, context),
  }
}

async function findLeftovers(job: JobKey, { table, catalogue }: StepContext): Promise<string[]> {
  const found = await auditTenant(table, job.tenantId)
  if ((await requireReservation(table, job)).state === 'held') {
    found.push('the reservation is open')
  }
  for (const { id } of catalogue.config.channels) {
    const open = (await readChannelCount(table, id))?.open ?? 0
    if (open !== 0) {
      found.push(`channel ${id} counts ${open} open jobs`)
    }
  }
  for await (const due of dueReservations(table, LATER_THAN_ANYTHING)) {
    found.push(`the due index holds ${due.jobId}`)
  }
  for await (const due of pendingCleanUps(table, LATER_THAN_ANYTHING)) {
    found.push(`the clean-up index holds ${due.jobId}`)
  }
  return found
}
