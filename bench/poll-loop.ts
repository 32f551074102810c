import type { VideoChannel } from '#core/catalogue/channel.ts'
import { firstPollWait, nextPollWait, sampleSeconds, throttledWait, type UsualSeconds } from '#core/jobs/waits.ts'
import { STEP_NEEDS } from '#stack/function-needs.ts'
import { addGenerationTime, readUsualSeconds, takePollToken } from '#store/jobs/channels.ts'
import type { Table } from '#store/table/table.ts'
import { DOLLARS, DOLLARS_PER_MILLION } from './list-prices.ts'
import { quantile } from './statistics.ts'

/** A lognormal law of generation times. Seconds. */
export type Law = { readonly median: number; readonly p95: number }

/** Standard deviations from the median of a normal law to its 95th percentile. */
const P95_DEVIATIONS = 1.6448536269514722

/** One draw from the law. */
export function drawSeconds({ median, p95 }: Law, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * (p95 / median) ** (normal / P95_DEVIATIONS)
}

/** What the gateway would say of a class with this law: its fifth percentile and its median. */
export function believed({ median, p95 }: Law): UsualSeconds {
  return { early: Math.round(median / (p95 / median)), median }
}

const common = {
  ...{ id: 'bench', base_url: 'https://upstream.example', api_key: '', models: {}, priority: 0, weight: 1 },
  ...{ max_open_jobs: 1_000_000, deadline_minutes: 60, reference_checks: false, poll: {} },
}
export const P1: VideoChannel = { ...common, provider: 'p1', async_header: 'X-Async' }
export const P2: VideoChannel = {
  ...common,
  provider: 'p2',
  route: 'direct',
  paths: { submit: '/s', poll: '/p/{id}' },
}

/** States of the loop that each poll enters: WaitForUpstream, Poll, AfterPoll. */
const TRANSITIONS_PER_POLL = 3
/** How long the function works on one poll, and how long a whole round takes beside its wait. */
const POLL_LAMBDA_SECONDS = 0.15
const ROUND_SECONDS = 0.35

/** How one job was found finished. Times in seconds. */
export type Detection = {
  readonly polls: number
  /** From the end of the generation to the poll that found it. */
  readonly lag: number
  /** From the submit to that poll. */
  readonly elapsed: number
  /** The wait before that poll. */
  readonly waited: number
}

type Job = {
  readonly channel: VideoChannel
  readonly seconds: number
  readonly usual?: UsualSeconds | undefined
  /** Jobs that share the polls of the channel. */
  readonly openJobs?: number
  readonly random: () => number
}

/** Polls one job to its end in virtual time, with the waits of the gateway itself. */
export function pollToTheEnd({ channel, seconds, usual, openJobs = 0, random }: Job): Detection {
  let waited = firstPollWait(channel, random(), usual)
  let elapsed = waited + ROUND_SECONDS
  let polls = 1
  while (elapsed < seconds) {
    waited = nextPollWait({ channel, elapsedSeconds: elapsed, openJobs, random: random(), usual })
    elapsed += waited + ROUND_SECONDS
    polls += 1
  }
  return { polls, lag: elapsed - seconds, elapsed, waited }
}

/** What a rhythm costs, and what it is worth. Means over jobs; dollars for 1,000 of them. */
export type Economy = {
  readonly polls: number
  readonly lag: number
  readonly lagP95: number
  readonly transitions: number
  readonly dollarsPerThousand: number
}

/** Transitions of the loop and the function's polls; what every job pays once is left out. */
export function economyOf(detections: readonly Detection[]): Economy {
  const mean = (field: 'polls' | 'lag') =>
    detections.reduce((sum, detection) => sum + detection[field], 0) / detections.length
  const polls = mean('polls')
  const gigabytes = STEP_NEEDS['poll-video-job'].memoryMegabytes / 1024
  const dollarsPerMillion =
    TRANSITIONS_PER_POLL * DOLLARS_PER_MILLION.stateTransitions +
    DOLLARS_PER_MILLION.invocations +
    gigabytes * POLL_LAMBDA_SECONDS * DOLLARS.gigabyteSecond * 1_000_000
  return {
    polls,
    lag: mean('lag'),
    lagP95: quantile(
      detections.map(({ lag }) => lag),
      0.95,
    ),
    transitions: TRANSITIONS_PER_POLL * polls,
    dollarsPerThousand: (polls * dollarsPerMillion) / 1000,
  }
}

/** Jobs one after the other, each with its class and its generation time. */
type Jobs = readonly { readonly className: string; readonly seconds: number }[]

type Learning = {
  readonly table: Table
  readonly channel: VideoChannel
  readonly random: () => number
  /** Whether success replies hold the generation time. */
  readonly isReported: boolean
}

/** Runs the jobs as the gateway would: each reads what its class has been taking from the table, and adds its own time. */
export async function runLearning(jobs: Jobs, { table, channel, random, isReported }: Learning): Promise<Detection[]> {
  const detections: Detection[] = []
  for (const { className, seconds } of jobs) {
    const key = { channelId: channel.id, className }
    const detection = pollToTheEnd({ channel, seconds, usual: await readUsualSeconds(table, key), random })
    detections.push(detection)
    const { elapsed, waited } = detection
    const reportedSeconds = isReported ? seconds : undefined
    const sample = sampleSeconds({ reportedSeconds, elapsedSeconds: elapsed, waitedSeconds: waited })
    if (sample !== undefined) {
      await addGenerationTime(table, key, { seconds: sample, nowSeconds: 0 })
    }
  }
  return detections
}

type Crowd = {
  readonly table: Table
  readonly channel: VideoChannel
  readonly jobs: number
  /** Seconds within which all of them were accepted. */
  readonly withinSeconds: number
  readonly law: Law
  readonly random: () => number
}

/** How a channel fared with all of its jobs at once. Seconds; per job where a mean is. */
export type CrowdOutcome = {
  readonly finished: number
  readonly polls: number
  /** Visits of Poll that found the channel's polls of the moment taken. */
  readonly throttled: number
  /** Polls in the busiest second, wherever that second begins. */
  readonly busiestSecond: number
  readonly lag: number
  readonly lagP95: number
}

/** Polls many open jobs of one channel in virtual time, with the gateway's own waits and its token bucket in the table. */
export async function runCrowd({ table, channel, jobs, withinSeconds, law, random }: Crowd): Promise<CrowdOutcome> {
  const visits = Array.from({ length: jobs }, () => {
    const begin = withinSeconds * random()
    return {
      begin,
      end: begin + drawSeconds(law, random),
      at: begin + firstPollWait(channel, random()) + ROUND_SECONDS,
    }
  })
  const lags: number[] = []
  const polls: number[] = []
  let throttled = 0
  for (;;) {
    const [first, ...others] = visits.filter(({ at }) => Number.isFinite(at))
    if (first === undefined) {
      break
    }
    const visit = others.reduce((earliest, other) => (other.at < earliest.at ? other : earliest), first)
    const token = await takePollToken(table, {
      channelId: channel.id,
      perSecond: channel.poll.requests_per_second ?? Number.POSITIVE_INFINITY,
      nowMilliseconds: Math.trunc(visit.at * 1000),
    })
    const at = visit.at + (token?.pauseMilliseconds ?? 0) / 1000
    const given = { channel, elapsedSeconds: at - visit.begin, openJobs: jobs - lags.length, random: random() }
    if (token === undefined) {
      throttled += 1
      visit.at = at + throttledWait(given) + ROUND_SECONDS
    } else if (at < visit.end) {
      polls.push(at)
      visit.at = at + nextPollWait(given) + ROUND_SECONDS
    } else {
      polls.push(at)
      lags.push(at - visit.end)
      visit.at = Number.POSITIVE_INFINITY
    }
  }
  return {
    finished: lags.length,
    polls: polls.length / jobs,
    throttled: throttled / jobs,
    busiestSecond: busiestSecond(polls),
    lag: lags.reduce((sum, lag) => sum + lag, 0) / jobs,
    lagP95: quantile(lags, 0.95),
  }
}

/** Whole milliseconds, as the bucket counts them. */
function busiestSecond(polls: readonly number[]): number {
  const times = polls.map((seconds) => Math.trunc(seconds * 1000)).sort((left, right) => left - right)
  let oldest = 0
  return times.reduce((most, time, index) => {
    while (time - (times[oldest] ?? time) >= 1000) {
      oldest += 1
    }
    return Math.max(most, index - oldest + 1)
  }, 0)
}
