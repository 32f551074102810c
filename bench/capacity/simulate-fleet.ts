import type { VideoChannel } from '#core/catalogue/channel.ts'
import { firstPollWait, nextPollWait, throttledWait } from '#core/jobs/waits.ts'
import { seededRandom } from '../../test/engines/seeded-random.ts'
import { drawSeconds, type Law } from '../lognormal.ts'
import { quantile } from '../statistics.ts'
import { EventQueue } from './event-queue.ts'
import { PollLine } from './poll-line.ts'

/** Seconds that a round takes beside its wait: state transitions, the function and the upstream's answer. */
const ROUND_SECONDS = 0.35
/** From the POST to the submit's answer, and from a found result to its settlement: both keep a job open. */
const BEFORE_SECONDS = 1
const AFTER_SECONDS = 2
/** Jobs begin over this time, so that they do not march in step. */
const SPREAD_SECONDS = 120
/** Longer than all but one generation in a thousand: by then the fleet is as it stays. */
const WARM_UP_SECONDS = 600
/** Nobody stays undecided for longer than this after it was made. */
const FIRST_LOOK_SECONDS = 60
const NEXT_LOOK_SECONDS_MAX = 600
/** Younger jobs whose execution is listed are passed without a write. */
const UNWRITTEN_SECONDS = 300

export type Fleet = {
  /** Jobs that are open all of the time: one that ends is followed by the next one. */
  readonly openJobs: number
  /** Upstream accounts that share them evenly, each with the `requests_per_second` of the channel. */
  readonly accounts: number
  readonly channel: VideoChannel
  readonly law: Law
  /** Virtual time that is counted, after the warm-up. Seconds. */
  readonly windowSeconds: number
  readonly seed: number
}

/** Rates are per second of the window; lags in seconds. */
export type FleetRates = {
  readonly jobs: number
  readonly polls: number
  /** Visits of Poll that found the channel's polls of the moment taken. */
  readonly throttled: number
  /** Open reservations that Reconcile looks at. */
  readonly looks: number
  /** Of them those at jobs of five minutes and more, as a run has them that lists the running executions. */
  readonly lateLooks: number
  readonly lagMean: number
  readonly lagP95: number
  /** Jobs whose video is ready upstream and not found yet, at the end of the window. */
  readonly unfound: number
}

type Job = { readonly account: number; readonly begin: number; readonly end: number }

/**
 * A fleet of open jobs in virtual time, polled by the gateway's own waits (`lambdas/core/jobs/waits.ts`) and its own token
 * bucket. Deterministic for one seed.
 */
export function simulateFleet({ openJobs, accounts, channel, law, windowSeconds, seed }: Fleet): FleetRates {
  const random = seededRandom(seed)
  const visits = new EventQueue<Job>()
  const lines = Array.from({ length: accounts }, () => new PollLine(channel.poll.requests_per_second ?? 1e9))
  const perAccount = openJobs / accounts
  const counts = { jobs: 0, polls: 0, throttled: 0, looks: 0, lateLooks: 0 }
  const lags: number[] = []
  const until = WARM_UP_SECONDS + windowSeconds
  const isCounted = (at: number) => at >= WARM_UP_SECONDS && at < until
  const start = (at: number, account: number) => {
    const begin = at + BEFORE_SECONDS
    visits.add(begin + firstPollWait(channel, random()) + ROUND_SECONDS, {
      account,
      begin,
      end: begin + drawSeconds(law, random),
    })
  }
  for (let job = 0; job < openJobs; job += 1) {
    start(SPREAD_SECONDS * random(), job % accounts)
  }
  let unfound = 0
  for (let visit = visits.next(); visit !== undefined; visit = visits.next()) {
    const { at, event: job } = visit
    if (at >= until) {
      unfound += job.end < until ? 1 : 0
      continue
    }
    const pause = lines[job.account]?.take(Math.trunc(at * 1000))
    const elapsedSeconds = at - job.begin
    if (pause === undefined) {
      counts.throttled += isCounted(at) ? 1 : 0
      const given = { channel, elapsedSeconds, openJobs: perAccount, random: random() }
      visits.add(at + throttledWait(given) + ROUND_SECONDS, job)
      continue
    }
    const polledAt = at + pause / 1000
    counts.polls += isCounted(polledAt) ? 1 : 0
    if (polledAt < job.end) {
      const wait = nextPollWait({ channel, elapsedSeconds, openJobs: perAccount, random: random() })
      visits.add(polledAt + wait + ROUND_SECONDS, job)
      continue
    }
    if (isCounted(polledAt)) {
      counts.jobs += 1
      counts.looks += looksOf(polledAt + AFTER_SECONDS - job.begin, FIRST_LOOK_SECONDS)
      counts.lateLooks += looksOf(polledAt + AFTER_SECONDS - job.begin, UNWRITTEN_SECONDS)
      lags.push(polledAt - job.end)
    }
    start(polledAt + AFTER_SECONDS, job.account)
  }
  return {
    jobs: counts.jobs / windowSeconds,
    polls: counts.polls / windowSeconds,
    throttled: counts.throttled / windowSeconds,
    looks: counts.looks / windowSeconds,
    lateLooks: counts.lateLooks / windowSeconds,
    lagMean: lags.length === 0 ? Number.NaN : lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    lagP95: lags.length === 0 ? Number.NaN : quantile(lags, 0.95),
    unfound,
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
