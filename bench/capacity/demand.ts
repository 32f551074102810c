import type { VideoChannel } from '#core/catalogue/channel.ts'
import {
  COUNTER_UNITS,
  DUE_KEY_UNITS,
  LOOK_UNITS,
  OPERATION_UNITS,
  PASSED_UNITS,
  RELAYED_UNITS,
  RELAYED_WRITES,
  type Units,
} from '../../test/engines/operation-units.ts'
import { seededRandom } from '../../test/engines/seeded-random.ts'
import { drawSeconds, pollToTheEnd } from '../poll-loop.ts'
import { quantile } from '../statistics.ts'
import { type Assumptions, FUNCTION_SECONDS, type LimitName, storeSeconds } from './assumptions.ts'

/** Jobs whose polls are simulated. */
const SAMPLED_JOBS = 20_000
const SEED = 1

/** From the POST to the reply of the submit, and from a found result to its settlement: both keep a job open. */
const BEFORE_SECONDS = 1
const AFTER_SECONDS = 2

/** Reconcile looks at nobody who stays undecided for less than this after it was made, and then at least every ten minutes. */
const FIRST_LOOK_SECONDS = 60
const NEXT_LOOK_SECONDS_MAX = 600
/** Younger jobs whose execution is listed are passed without a write. */
const UNWRITTEN_SECONDS = 300

/** What one job goes through, from the gateway's own waits. Means over jobs; times in seconds. */
export type JobCourse = {
  readonly polls: number
  readonly openSeconds: number
  readonly lag: number
  readonly lagP95: number
  /** Looks of Reconcile, and of them those at jobs of five minutes and more. */
  readonly looks: number
  readonly lateLooks: number
}

type Sampled = { readonly channel: VideoChannel; readonly openJobs: number; readonly assumptions: Assumptions }

/** @param openJobs jobs that share the polls of the account: the waits grow, so that it stays within its rate. */
export function courseOf({ channel, openJobs, assumptions: { median, p95 } }: Sampled): JobCourse {
  const random = seededRandom(SEED)
  const jobs = Array.from({ length: SAMPLED_JOBS }, () =>
    pollToTheEnd({ channel, openJobs, seconds: drawSeconds({ median, p95 }, random), random }),
  )
  const mean = (figureOf: (job: (typeof jobs)[number]) => number) =>
    jobs.reduce((sum, job) => sum + figureOf(job), 0) / jobs.length
  return {
    polls: mean(({ polls }) => polls),
    openSeconds: BEFORE_SECONDS + mean(({ elapsed }) => elapsed) + AFTER_SECONDS,
    lag: mean(({ lag }) => lag),
    lagP95: quantile(
      jobs.map(({ lag }) => lag),
      0.95,
    ),
    looks: mean(({ elapsed }) => looksOf(elapsed + AFTER_SECONDS, FIRST_LOOK_SECONDS)),
    lateLooks: mean(({ elapsed }) => looksOf(elapsed + AFTER_SECONDS, UNWRITTEN_SECONDS)),
  }
}

/** How often Reconcile looks at a job: at its first look, then whenever it is twice as old, ten minutes apart at most. */
function looksOf(openSeconds: number, firstSeconds: number): number {
  let looks = 0
  for (let at = firstSeconds; at < openSeconds; at += Math.min(at, NEXT_LOOK_SECONDS_MAX)) {
    looks += 1
  }
  return looks
}

/** What is asked of each limit, in its unit. */
export type Demand = Partial<Readonly<Record<LimitName, number>>>

/** States that every job enters once: Submit, AfterSubmit, Store, Settle, Notify, Done. */
const STATES_ONCE = 6
/** WaitForUpstream, Poll, AfterPoll. */
const STATES_PER_POLL = 3
/** Jobs that a run of Reconcile asks about one by one before it lists the running executions, and executions in one request. */
const ASKED_A_RUN = 100
const LISTED_AT_ONCE = 1000

type Fleet = {
  readonly openJobs: number
  readonly accounts: number
  readonly course: JobCourse
  readonly assumptions: Assumptions
}

/** What jobs that are open all of the time ask of each limit: one that ends is followed by the next one. */
export function demandOfJobs({ openJobs, accounts, course, assumptions }: Fleet): Demand {
  const { tenants, clientPollSeconds, budgets } = assumptions
  const jobs = openJobs / course.openSeconds
  const polls = jobs * course.polls
  const gets = openJobs / clientPollSeconds
  const looks = jobs * course.looks
  const asked = Math.min(looks, ASKED_A_RUN / 60)
  const isListed = looks > asked
  // Of listed jobs, only old ones are written.
  const written = isListed ? asked + jobs * course.lateLooks : asked
  const listed = isListed ? openJobs / 60 : 0
  const {
    create,
    submit,
    store,
    settle,
    notify,
    get,
    'poll, changed': changed,
    'poll, succeeded': found,
  } = OPERATION_UNITS
  const units: readonly (readonly [perSecond: number, each: Units])[] = [
    ...[create, submit, found, store, settle, notify].map((each) => [jobs, each] as const),
    [Math.max(0, polls - jobs), changed],
    [gets, get],
    [asked, LOOK_UNITS],
    [written - asked, PASSED_UNITS],
    [listed, DUE_KEY_UNITS],
  ]
  const { create: creating, submit: submitting, settle: settling, notify: notifying } = FUNCTION_SECONDS
  const storing = jobs * storeSeconds(assumptions)
  const polling = polls * FUNCTION_SECONDS.poll
  return {
    'lambda-concurrency':
      jobs * (creating + submitting + settling + notifying) + storing + polling + gets * FUNCTION_SECONDS.get,
    // Of the step that holds most.
    'step-concurrency': Math.max(storing, polling),
    'state-transitions': jobs * STATES_ONCE + polls * STATES_PER_POLL,
    'start-execution': jobs,
    'open-executions': openJobs,
    'api-requests': jobs + gets,
    'stage-throttle': jobs + gets,
    // Each tenant has one backend behind one address.
    'address-rate': (jobs + gets) / tenants,
    'table-writes': units.reduce((sum, [perSecond, { writes }]) => sum + perSecond * writes, 0),
    'table-reads': units.reduce((sum, [perSecond, { reads }]) => sum + perSecond * reads, 0),
    // Each job changes the balance of its tenant twice, and the count of its channel twice.
    'item-transactions': (2 * jobs) / Math.min(tenants, accounts),
    // Each tenant settles by one key and model.
    'counter-transactions': jobs / tenants,
    'counter-partition-writes': (COUNTER_UNITS.writes * jobs) / tenants,
    'alert-looks-a-minute': budgets,
    'open-index-writes': 2 * jobs + 2 * written,
    'reconcile-looks-a-minute': 60 * written,
    'describe-executions': asked,
    'list-executions': listed / LISTED_AT_ONCE,
    'reconcile-recount-jobs': openJobs,
  }
}

/**
 * What the chats of one tenant ask of each limit on AWS, with one key and one model: then they all move one usage counter. A function
 * serves one request at a time, so the hold of its process moves only with its own requests. Balance and hold are in both transactions of a
 * request, a counter is in the settlement.
 */
export function demandOfChats(chatsPerSecond: number, { chatSeconds }: Assumptions): Demand {
  return {
    'item-transactions': 2 * chatsPerSecond,
    'counter-transactions': chatsPerSecond,
    'hold-transactions': 2 * Math.min(chatsPerSecond, 1 / chatSeconds),
    // The holds of all processes stand in the partition of the tenant.
    'hold-partition-writes': chatsPerSecond * RELAYED_WRITES.hold,
    'counter-partition-writes': chatsPerSecond * RELAYED_WRITES.counter,
    'ledger-partition-writes': chatsPerSecond * RELAYED_WRITES.ledger,
    'lambda-concurrency': chatsPerSecond * chatSeconds,
    'table-writes': chatsPerSecond * RELAYED_UNITS.writes,
  }
}
