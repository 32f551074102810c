import { beforeAll, describe, expect, it } from 'vitest'
import { countOpenJobs, readChannelCount, setChannelCount, takePollToken } from '#adapters/store/jobs/channel-load.ts'
import { claimSubmit } from '#adapters/store/jobs/submission.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { openTenant, reserveJob } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

async function claimOne(channelId: string): Promise<void> {
  const job = await reserveJob(table, await openTenant(table))
  await claimSubmit(table, { job, channel: { id: channelId, max_open_jobs: 100, provider: 'p2' }, nowSeconds: 1 })
}

describe('the count of open jobs', () => {
  it('is nothing before the first claim', async () => {
    expect(await countOpenJobs(table, 'new')).toBe(0)
    expect(await readChannelCount(table, 'new')).toBeUndefined()
  })

  it('is corrected, unless it moved since it was read', async () => {
    await claimOne('drifted')
    const read = await readChannelCount(table, 'drifted')
    expect(read).toEqual({ open: 1, version: 1 })
    expect(await setChannelCount(table, 'drifted', { open: 0, version: 1 })).toBe(true)
    expect(await countOpenJobs(table, 'drifted')).toBe(0)
    await claimOne('drifted')
    expect(await setChannelCount(table, 'drifted', { open: 7, version: 2 })).toBe(false)
    expect(await countOpenJobs(table, 'drifted')).toBe(1)
  })
})

describe('the polls of a channel', () => {
  const take = (channelId: string, nowMilliseconds: number, perSecond: number) =>
    takePollToken(table, { channelId, perSecond, nowMilliseconds })

  async function taken(channelId: string, perSecond: number, times: readonly number[]): Promise<number> {
    let count = 0
    for (const time of times) {
      count += (await take(channelId, time, perSecond)) ? 1 : 0
    }
    return count
  }

  it('are promised for one second ahead, and no further', async () => {
    expect(await taken('burst', 5, Array<number>(20).fill(1_000))).toBe(5)
  })

  it('that are asked for at once are spread evenly by their pauses', async () => {
    const tokens = [await take('spread', 1_000, 4), await take('spread', 1_000, 4), await take('spread', 1_100, 4)]
    expect(tokens.map((token) => token?.pauseMilliseconds)).toEqual([0, 250, 400])
  })

  it.each([
    ['after a rest', () => 0],
    ['all the time', (index: number) => index * 30],
  ])('never come more often in any second than the rate, asked for %s', async (name, after) => {
    const times: number[] = []
    for (let index = 0; index < 60; index += 1) {
      const now = 1_000 + after(index)
      const token = await take(`ceiling-${name}`, now, 15)
      times.push(...(token === undefined ? [] : [now + token.pauseMilliseconds]))
    }
    const busiest = Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length))
    expect(busiest).toBeGreaterThanOrEqual(14)
    expect(busiest).toBeLessThanOrEqual(15)
  })

  it('stay at the rate over time, however many ask', async () => {
    const everyFiftyMilliseconds = Array.from({ length: 100 }, (_, index) => 1_000 + index * 50)
    const count = await taken('steady', 4, everyFiftyMilliseconds)
    expect(count).toBeGreaterThanOrEqual(5 * 4)
    expect(count).toBeLessThanOrEqual(6 * 4)
  })

  it('of a channel slower than one in a second come one by one', async () => {
    expect(await taken('slow', 0.5, [1_000, 1_500, 2_500, 3_001, 4_000, 5_002])).toBe(3)
  })

  it('are not handed out twice to those who ask at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => take('crowd', 1_000, 1)))
    expect(outcomes.filter(Boolean)).toHaveLength(1)
  })

  it('of one channel do not slow another one', async () => {
    expect(await take('left', 1_000, 1)).toEqual({ pauseMilliseconds: 0 })
    expect(await take('right', 1_000, 1)).toEqual({ pauseMilliseconds: 0 })
  })
})
