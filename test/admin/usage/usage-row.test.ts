import { describe, expect, it } from 'vitest'
import { UsageGroups } from '#core/api/usage.ts'
import { usageRows } from '../../../lib/cli/admin/usage.ts'
import { usageCounter } from '../../core/pricing/usage-counters.ts'

describe('usageRows', () => {
  it('names the values of each group by their dimensions, and the keys that have a name', () => {
    const by = ['key', 'day'] as const
    const groups = new UsageGroups(by)
    groups.add(usageCounter({ keyId: 'key1' }, { cost: 1n }))
    groups.add(usageCounter({ keyId: 'key2' }, { cost: 2n }))
    const tenant = { id: 'acme', name: 'Acme' }
    const used = { tenant, groups: groups.sorted(), total: groups.total }
    expect(usageRows(used, by, new Map([['key2', 'search']]))).toEqual([
      {
        tenant: 'acme',
        tenantName: 'Acme',
        dimensions: { key: 'key1', day: '2026-11-22' },
        keyName: undefined,
        sums: expect.objectContaining({ cost: 1n }),
      },
      {
        tenant: 'acme',
        tenantName: 'Acme',
        dimensions: { key: 'key2', day: '2026-11-22' },
        keyName: 'search',
        sums: expect.objectContaining({ cost: 2n }),
      },
    ])
  })
})
