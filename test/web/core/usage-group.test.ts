import { describe, expect, it } from 'vitest'
import { usageGroup, usageGroups } from '#web/core/usage-group.ts'

describe('usageGroup', () => {
  it('is what the url asks for', () => {
    expect([usageGroup('key', 'demo'), usageGroup('tenant', undefined), usageGroup(undefined, 'demo')]).toEqual([
      'key',
      'tenant',
      'model',
    ])
  })

  it('is no dimension that the usage does not have, such as the tenant of one tenant', () => {
    expect([usageGroup('tenant', 'demo'), usageGroup('day; drop', undefined)]).toEqual(['model', 'model'])
    expect(usageGroups('demo').map(([value]) => value)).not.toContain('tenant')
  })
})
