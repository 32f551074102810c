import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { takePollToken } from '#adapters/store/jobs/channel-load.ts'
import { PollLine } from '../../../bench/capacity/poll-line.ts'
import { seededRandom } from '../../engines/seeded-random.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'

let engine: TestTable

beforeAll(async () => {
  engine = await startTestTable()
})

afterAll(async () => {
  await engine.close()
})

describe('the token bucket in memory', () => {
  it.each([3, 15, 40])('decides as the one in the table, at %d polls a second', async (perSecond) => {
    const random = seededRandom(perSecond)
    const line = new PollLine(perSecond)
    let now = 1_000_000
    for (let visit = 0; visit < 60; visit += 1) {
      now += Math.trunc((random() < 0.1 ? 2000 : 60) * random())
      const token = await takePollToken(engine.table, { channelId: `c${perSecond}`, perSecond, nowMilliseconds: now })
      expect(line.take(now)).toBe(token?.pauseMilliseconds)
    }
  })
})
