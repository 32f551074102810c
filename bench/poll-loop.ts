import { STEP_NEEDS } from '#aws/pipeline-needs.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { UsualSeconds } from '#core/jobs/generation-times.ts'
import { firstPollWait, nextPollWait } from '#core/jobs/waits.ts'
import { DOLLARS_PER_MILLION } from './list-prices.ts'
import { quantile } from './statistics.ts'

/** In dollars, on arm64: aws.amazon.com/lambda/pricing. */
const PRICE_OF_GIGABYTE_SECOND = 0.0000133334

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
  readonly usual: UsualSeconds | undefined
  readonly random: () => number
}

/** Polls one job to its end in virtual time, with the waits of the gateway itself. */
export function pollToTheEnd({ channel, seconds, usual, random }: Job): Detection {
  let waited = firstPollWait(channel, random(), usual)
  let elapsed = waited + ROUND_SECONDS
  let polls = 1
  while (elapsed < seconds) {
    waited = nextPollWait({ channel, elapsedSeconds: elapsed, openJobs: 0, random: random(), usual })
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
  const mean = (member: 'polls' | 'lag') =>
    detections.reduce((sum, detection) => sum + detection[member], 0) / detections.length
  const polls = mean('polls')
  const gigabytes = STEP_NEEDS['poll-video-job'].memoryMegabytes / 1024
  const dollarsPerMillion =
    TRANSITIONS_PER_POLL * DOLLARS_PER_MILLION.stateTransitions +
    DOLLARS_PER_MILLION.invocations +
    gigabytes * POLL_LAMBDA_SECONDS * PRICE_OF_GIGABYTE_SECOND * 1_000_000
  const lags = detections.map(({ lag }) => lag)
  return {
    polls,
    lag: mean('lag'),
    lagP95: quantile(lags, 0.95),
    transitions: TRANSITIONS_PER_POLL * polls,
    dollarsPerThousand: (polls * dollarsPerMillion) / 1000,
  }
}
