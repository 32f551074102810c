import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { UsualSeconds } from '#core/jobs/waits.ts'
import { seededRandom } from '../test/engines/seeded-random.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { believed, drawSeconds, economyOf, type Law, P1, P2, pollToTheEnd } from './poll-loop.ts'

/** What the providers' videos of five seconds take. */
const LAW: Law = { median: 90, p95: 240 }

const everySeconds = (seconds: number): VideoChannel => ({
  ...P2,
  poll: { first_seconds: seconds, interval_seconds: seconds },
})

const RHYTHMS: readonly (readonly [name: string, channel: VideoChannel, usual?: UsualSeconds])[] = [
  ['every 5 s', everySeconds(5)],
  ['every 10 s', everySeconds(10)],
  ['every 15 s', everySeconds(15)],
  ['P2, start values (42 s, 9 s)', P2],
  ['P2, class known', P2, believed(LAW)],
  ['P1, start values (30 s, 15 s)', P1],
  ['P1, class known', P1, believed(LAW)],
]

const COLUMNS = ['Rhythm', 'Polls a job', 'Lag mean, s', 'Lag p95, s', 'Transitions a job', '$ per 1,000 jobs']

/** What the poll rhythm costs, and what it is worth. `test/bench/polling.test.ts` has classes that change, and crowds. */
export async function measurePolling({ quick }: MeasureOptions): Promise<string> {
  const jobs = quick ? 10_000 : 200_000
  const rows = RHYTHMS.map(([name, channel, usual]) => {
    const random = seededRandom(1)
    const detections = Array.from({ length: jobs }, () =>
      pollToTheEnd({ channel, seconds: drawSeconds(LAW, random), usual, random }),
    )
    const { polls, lag, lagP95, transitions, dollarsPerThousand } = economyOf(detections)
    const lags = [lag.toFixed(2), lagP95.toFixed(1)]
    return [name, polls.toFixed(1), ...lags, transitions.toFixed(0), dollarsPerThousand.toFixed(3)]
  })
  const how = `In virtual time, over the waits that the gateway itself computes, seeded; ${jobs} jobs a row. A round takes 0.35 s beside its wait.`
  return ['## Polling', how, markdownTable(COLUMNS, rows)].join('\n\n')
}
