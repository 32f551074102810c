import { beforeAll, describe, expect, it } from 'vitest'
import { addGenerationTime, readUsualSeconds } from '#adapters/store/jobs/generation-times.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { WINDOW_SAMPLES } from '#core/jobs/waits.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

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

describe('the generation times of a class', () => {
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
