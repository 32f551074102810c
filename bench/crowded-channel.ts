import { takePollToken } from '#adapters/store/jobs/channel-load.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { firstPollWait, nextPollWait, throttledWait } from '#core/jobs/waits.ts'
import { seededRandom } from '../test/engines/seeded-random.ts'
import { drawSeconds, type Law } from './lognormal.ts'
import { quantile } from './statistics.ts'

/** Seconds that a round takes beside its wait: from, and so much more at most. */
const ROUND_SECONDS = { from: 0.2, more: 0.3 }

type Crowd = {
  readonly table: Table
  readonly channel: VideoChannel
  readonly jobs: number
  /** Seconds within which all of them were accepted. */
  readonly withinSeconds: number
  readonly law: Law
  readonly seed: number
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

type Visit = { readonly begin: number; readonly end: number; readonly at: number }

/**
 * Polls many open jobs of one channel in virtual time, in the order of their visits, with the gateway's own waits and its
 * token bucket in the table.
 */
export async function runCrowd({ table, channel, jobs, withinSeconds, law, seed }: Crowd): Promise<CrowdOutcome> {
  const random = seededRandom(seed)
  const round = () => ROUND_SECONDS.from + ROUND_SECONDS.more * random()
  const visits = new VisitQueue()
  for (let job = 0; job < jobs; job += 1) {
    const begin = withinSeconds * random()
    const end = begin + drawSeconds(law, random)
    visits.add({ begin, end, at: begin + firstPollWait(channel, random()) + round() })
  }
  const lags: number[] = []
  const polls: number[] = []
  let throttled = 0
  for (let visit = visits.next(); visit !== undefined; visit = visits.next()) {
    const token = await takePollToken(table, {
      channelId: channel.id,
      perSecond: channel.poll.requests_per_second ?? Number.POSITIVE_INFINITY,
      nowMilliseconds: Math.trunc(visit.at * 1000),
    })
    const at = visit.at + (token?.pauseMilliseconds ?? 0) / 1000
    const given = { channel, elapsedSeconds: at - visit.begin, openJobs: jobs - lags.length, random: random() }
    if (token === undefined) {
      throttled += 1
      visits.add({ ...visit, at: at + throttledWait(given) + round() })
      continue
    }
    polls.push(at)
    if (at >= visit.end) {
      lags.push(at - visit.end)
    } else {
      visits.add({ ...visit, at: at + nextPollWait(given) + round() })
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

/** Visits by their time, the latest first in the list. */
class VisitQueue {
  readonly #visits: Visit[] = []

  add(visit: Visit): void {
    let [low, high] = [0, this.#visits.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#visits[middle]?.at ?? 0) > visit.at) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    this.#visits.splice(low, 0, visit)
  }

  next(): Visit | undefined {
    return this.#visits.pop()
  }
}
