import { describe, expect, it } from 'vitest'
import { findBleed } from '../../bench/bleed.ts'

describe('mixed requests of many tenants, some of whose clients leave', () => {
  it('each have their own response, headers, log line and ledger row, and the ledger is in order', async () => {
    const requests = 1_200
    const { broken, whole, left, settled } = await findBleed({ requests, tenants: 50, connections: 32, seed: 7 })
    expect(broken).toEqual([])
    expect(whole + left).toBe(requests)
    expect(settled).toBeGreaterThan(requests / 2)
  })
})
