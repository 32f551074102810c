import { describe, expect, it } from '@jest/globals'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { UsualSeconds } from '#core/jobs/waits.ts'
import {
  believed,
  drawSeconds,
  economyOf,
  type Law,
  P1,
  P2,
  pollToTheEnd,
  runCrowd,
  runLearning,
} from '../../bench/poll-loop.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { useTestTable } from '../engines/use-test-table.ts'

const STANDARD: Law = { median: 90, p95: 240 }
const FAST: Law = { median: 45, p95: 120 }
const TWICE: Law = { median: 180, p95: 480 }
const SLOW: Law = { median: 300, p95: 800 }
const NARROW: Law = { median: 90, p95: 135 }

const engine = useTestTable()

const JOBS = 10_000

/** Polls many jobs with this law, as if that were usual for their class. */
function economy(channel: VideoChannel, law: Law, usual?: UsualSeconds) {
  const random = seededRandom(1)
  const jobs = Array.from({ length: JOBS }, () => drawSeconds(law, random))
  return economyOf(jobs.map((seconds) => pollToTheEnd({ channel, seconds, usual, random })))
}

async function learnt(channel: VideoChannel, jobs: readonly { className: string; seconds: number }[]) {
  const own = { channel, table: await engine.fresh(), random: seededRandom(3), isReported: true }
  return economyOf(await runLearning(jobs, own))
}

describe('the poll rhythm of a known class', () => {
  it('costs at most 0.75 dollars per 1,000 jobs on p2, and finds them within 5.5 seconds in the mean', () => {
    const { dollarsPerThousand, lag } = economy(P2, STANDARD, believed(STANDARD))
    expect(dollarsPerThousand).toBeLessThanOrEqual(0.75)
    expect(lag).toBeLessThanOrEqual(5.5)
  })

  it('finds the jobs of p1 within 8 seconds in the mean, and costs less than the start values', () => {
    const known = economy(P1, STANDARD, believed(STANDARD))
    expect(known.lag).toBeLessThanOrEqual(8)
    expect(known.dollarsPerThousand).toBeLessThan(economy(P1, STANDARD).dollarsPerThousand)
  })

  it('costs a third less on p1 where all jobs take nearly the same', () => {
    const [known, start] = [economy(P1, NARROW, believed(NARROW)), economy(P1, NARROW)]
    expect(known.dollarsPerThousand).toBeLessThan(start.dollarsPerThousand * (2 / 3))
    expect(known.lag).toBeLessThanOrEqual(8)
  })
})

describe('the poll rhythm of a class that is wrongly believed to take 90 seconds', () => {
  it('finds jobs of 45 seconds sooner than the start values do', () => {
    const [wrong, start] = [economy(P2, FAST, believed(STANDARD)), economy(P2, FAST)]
    expect(wrong.lag).toBeLessThan(start.lag)
    expect(economy(P1, FAST, believed(STANDARD)).lag).toBeLessThan(10)
  })

  it('costs at most a tenth more than the start values for jobs of 180 seconds', () => {
    const [wrong, start] = [economy(P2, TWICE, believed(STANDARD)), economy(P2, TWICE)]
    expect(wrong.dollarsPerThousand).toBeLessThan(start.dollarsPerThousand * 1.1)
    expect(wrong.lag).toBeLessThanOrEqual(5.5)
  })
})

describe('the poll rhythm of a gateway that learns from nothing', () => {
  /** Three classes in turn. */
  function mixture(): { className: string; seconds: number }[] {
    const random = seededRandom(2)
    return Array.from({ length: 600 }, (_, job) => {
      const law = [FAST, STANDARD, SLOW][job % 3] ?? STANDARD
      return { className: `${law.median}`, seconds: drawSeconds(law, random) }
    })
  }

  it('costs a fifth less than the start values over fast, usual and slow classes, and finds their jobs sooner', async () => {
    const jobs = mixture()
    const random = seededRandom(3)
    const start = economyOf(jobs.map(({ seconds }) => pollToTheEnd({ channel: P2, seconds, usual: undefined, random })))
    const after = await learnt(P2, jobs)
    expect(after.dollarsPerThousand).toBeLessThan(start.dollarsPerThousand * 0.8)
    expect(after.lag).toBeLessThan(start.lag)
  })

  it('follows an upstream that becomes four times as slow, and then as fast again', async () => {
    const random = seededRandom(4)
    const draw = (law: Law) =>
      Array.from({ length: 120 }, () => ({ className: 'x', seconds: drawSeconds(law, random) }))
    const times = { table: await engine.fresh(), channel: P2, random, isReported: true }
    await runLearning([...draw(FAST), ...draw(TWICE)], times)
    const slow = economyOf(await runLearning(draw(TWICE), times))
    await runLearning(draw(FAST), times)
    const fast = economyOf(await runLearning(draw(FAST), times))
    expect(slow.dollarsPerThousand).toBeLessThan(economy(P2, TWICE).dollarsPerThousand * 0.75)
    expect(fast.lag).toBeLessThan(economy(P2, FAST).lag * 0.5)
  })
})

describe('a crowded channel', () => {
  it('never gets more polls in any second than its requests_per_second, and every job is found', async () => {
    const channel = { ...P1, poll: { requests_per_second: 3 } }
    const crowd = { table: await engine.fresh(), channel, jobs: 120, law: STANDARD }
    for (const withinSeconds of [1, 60]) {
      const own = { ...channel, id: `crowd-${withinSeconds}` }
      const outcome = await runCrowd({ ...crowd, channel: own, withinSeconds, random: seededRandom(1) })
      expect(outcome.finished).toBe(120)
      expect(outcome.busiestSecond).toBe(3)
      expect(outcome.throttled).toBeLessThan(4)
      expect(outcome.lag).toBeLessThan(120 / 3)
    }
  })
})
