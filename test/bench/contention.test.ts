import { describe, expect, it } from 'vitest'
import { contend } from '../../bench/contention.ts'

describe('chats of one tenant, while transactions take eight milliseconds and refuse each other', () => {
  it('are served by each of several processes, and the ledger is in order', async () => {
    const options = { processes: 3, perSecond: 60, chatMilliseconds: 50, seconds: 1 }
    const { served, refused, leastServed, conflicts, broken } = await contend(options)
    expect([served + refused, broken]).toEqual([60, []])
    expect(leastServed).toBeGreaterThan(5)
    expect(conflicts).toBeGreaterThan(0)
  })
})
