import { describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { tenantView } from '#lambdas/admin/tenants.ts'

describe('tenantView', () => {
  it('shows amounts as decimal strings, why a tenant is suspended, and no secret', () => {
    const amount = parseCredits('0.25')
    const tenant = {
      ...({
        id: 'acme',
        name: 'Acme',
        state: 'suspended',
        budget: null,
        webhookSecret: 'whsec_x',
        createdAt: 1,
      } as const),
      suspension: { at: 1, by: 'ada', reason: 'unpaid' },
      balance: { available: amount, held: amount, spent: amount, granted: amount },
      openJobs: { count: 2, max: null },
    }
    expect(tenantView(tenant, 0)).toEqual({
      ...{ id: 'acme', name: 'Acme', state: 'suspended', suspended_reason: 'unpaid' },
      balance: { available: '0.25', held: '0.25', spent: '0.25', granted: '0.25' },
      ...{ open_jobs: 2, open_jobs_max: null, budget: null },
    })
  })
})
