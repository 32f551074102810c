import { describe, expect, it } from 'vitest'
import { ZERO } from '#core/money.ts'
import { describeTenant, openJobsText, stateText, tenantRow } from '../../../lib/cli/admin/tenants.ts'
import { credits } from '../../engines/video-jobs.ts'

const TENANT = {
  id: 't-1',
  name: 'Acme',
  webhookSecret: 'whsec_secret',
  createdAt: 1,
  state: 'active',
  suspension: null,
  openJobs: { count: 1, max: null },
  balance: { available: credits('3'), held: credits('1'), spent: credits('1'), granted: credits('5') },
  budget: null,
} as const
const SUSPENDED = {
  ...TENANT,
  state: 'suspended',
  suspension: { at: Date.parse('2026-11-22T10:00:00Z'), by: 'alice@laptop', reason: 'unpaid' },
} as const

describe('describe-tenant', () => {
  it('shows the callback secret only where it is asked for', () => {
    expect(JSON.stringify(describeTenant(TENANT, { withSecret: false }))).not.toContain('whsec_')
    expect(describeTenant(TENANT, { withSecret: true })).toMatchObject({ json: { webhook_secret: 'whsec_secret' } })
  })

  it('shows the budget, if there is one, as it counts now', () => {
    const period = { kind: 'day', id: '2026-11-21' } as const
    const amounts = { amount: credits('2'), spent: credits('1'), held: credits('1'), left: ZERO, free: credits('1') }
    const { json, text } = describeTenant({ ...TENANT, budget: { period, ...amounts } }, { withSecret: false })
    expect(json).toMatchObject({ budget: { amount: '2', period: 'day', spent: '0', held: '1', left: '1' } })
    expect(text).toMatch(/budget +2\/day: 0 spent, 1 held, 1 left until /)
    expect(describeTenant(TENANT, { withSecret: false }).json).toMatchObject({ budget: null })
  })

  it('says since when, by whom and why a tenant is suspended', () => {
    const suspension = { since: '2026-11-22T10:00:00.000Z', by: 'alice@laptop', reason: 'unpaid' }
    expect(tenantRow(SUSPENDED)).toMatchObject({ state: 'suspended', suspension })
    const { json, text } = describeTenant(SUSPENDED, { withSecret: false })
    expect(json).toMatchObject({ suspension })
    expect(text).toContain('suspended since 2026-11-22T10:00:00.000Z by alice@laptop: unpaid')
  })

  it('names a suspension only where there is one, and a reason only where one was given', () => {
    expect(stateText(TENANT)).toBe('active')
    expect(tenantRow(TENANT)).not.toHaveProperty('suspension')
    expect(stateText({ ...SUSPENDED, suspension: { ...SUSPENDED.suspension, reason: null } })).toMatch(
      /by alice@laptop$/,
    )
  })

  it('counts open jobs against their limit, if there is one', () => {
    expect([openJobsText(1, null), openJobsText(1, 10)]).toEqual(['1', '1 of 10'])
  })
})
