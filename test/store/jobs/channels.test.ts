import { describe, expect, it } from '@jest/globals'
import { WINDOW_SAMPLES } from '#core/jobs/waits.ts'
import {
  addGenerationTime,
  countOpenJobs,
  readChannelCount,
  readUsualSeconds,
  setChannelCount,
  takePollToken,
} from '#store/jobs/channels.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob } from '../../engines/video-jobs.ts'

describe('the load of a channel:', () => {
  const { table } = useTestTable()

  async function claimOne(channelId: string): Promise<void> {
    const job = await reserveJob(table, await openTenant(table))
    await claimSubmit(table, { job, channel: { id: channelId, max_open_jobs: 100, provider: 'p2' }, nowSeconds: 1 })
  }

  describe('countOpenJobs: the count of open jobs', () => {
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

  describe('takePollToken: the polls of a channel', () => {
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
      const busiest = Math.max(
        ...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length),
      )
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
})

describe('the generation times of a class', () => {
  const { table } = useTestTable()

  const classOf = (channelId: string, className = 'model#5#720P') => ({ channelId, className })
  const add = (channelId: string, seconds: number, nowSeconds = 1_000) =>
    addGenerationTime(table, classOf(channelId), { seconds, nowSeconds })
  const usual = (channelId: string) => readUsualSeconds(table, classOf(channelId))
  const item = (channelId: string) => table.readItem(tableKeys.generationTimes(channelId, classOf(channelId).className))

  async function addAll(channelId: string, times: readonly number[]): Promise<void> {
    for (const seconds of times) {
      await add(channelId, seconds)
    }
  }

  it('say nothing before eight jobs have finished', async () => {
    expect(await usual('new')).toBeUndefined()
    await addAll('new', Array<number>(7).fill(60))
    expect(await usual('new')).toBeUndefined()
    await add('new', 60)
    expect(await usual('new')).toEqual({ early: 51, median: 60 })
  })

  it('of another length, model or channel stay apart', async () => {
    await addAll('apart', Array<number>(8).fill(60))
    expect(await readUsualSeconds(table, classOf('apart', 'model#10#720P'))).toBeUndefined()
    expect(await readUsualSeconds(table, classOf('other'))).toBeUndefined()
  })

  it('count every one of thirty jobs that finish at once', async () => {
    await Promise.all(Array.from({ length: 30 }, () => add('crowd', 90)))
    expect(await item('crowd')).toMatchObject({ samples: 30 })
    expect(await usual('crowd')).toEqual({ early: 76, median: 90 })
  })

  it('remember the last full window and the current one, and nothing before', async () => {
    await addAll('forgetful', Array<number>(WINDOW_SAMPLES).fill(1000))
    await addAll('forgetful', Array<number>(WINDOW_SAMPLES).fill(60))
    expect(await item('forgetful')).toMatchObject({ samples: WINDOW_SAMPLES, samplesBefore: WINDOW_SAMPLES })
    expect((await usual('forgetful'))?.median).toBe(245)
    await add('forgetful', 60)
    expect(await item('forgetful')).toMatchObject({ samples: 1, samplesBefore: WINDOW_SAMPLES })
    expect(await usual('forgetful')).toEqual({ early: 51, median: 60 })
  })

  it('lose at most those samples that change the window at once', async () => {
    await addAll('turning', Array<number>(WINDOW_SAMPLES).fill(60))
    await Promise.all(Array.from({ length: 10 }, () => add('turning', 60)))
    const turned = await item('turning')
    expect(turned).toMatchObject({ samplesBefore: WINDOW_SAMPLES })
    expect(turned?.samples).toBeGreaterThanOrEqual(1)
    expect(turned?.samples).toBeLessThanOrEqual(10)
    expect(turned?.logSum).toBe(Number(turned?.samples) * Math.round(1000 * Math.log(60)))
  })

  it('are kept as integers, and collected thirty days after the last job', async () => {
    await add('kept', 79.583, 2_000)
    const { PK, SK, ...numbers } = (await item('kept')) ?? {}
    expect(numbers).toEqual({ samples: 1, logSum: 4377, logSquares: 4377 * 4377, ttl: 2_000 + 30 * 86_400 })
  })
})
