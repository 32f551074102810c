import { describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { rotateCallbackSecret, tenantView } from '#lambdas/admin/tenants.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { useTestTable } from '../engines/test-table.ts'
import { openTenant, TESTER } from '../engines/video-jobs.ts'

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

describe('rotateCallbackSecret', () => {
  const engine = useTestTable()

  it('keeps the old secret for the overlap alone, and lets one of two rotations at once win', async () => {
    const { tenantId, webhookSecret: current } = await openTenant(engine.table)
    const rotate = (overlapMilliseconds: number) =>
      rotateCallbackSecret(engine.table, tenantId, {
        current,
        overlapMilliseconds,
        actor: TESTER,
        nowMilliseconds: 1_000,
      })
    const outcomes = await Promise.allSettled([rotate(500), rotate(500)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const stored = (nowMilliseconds: number) => readWebhookSecrets(engine.table, tenantId, { nowMilliseconds })
    expect((await stored(1_400)).previous).toEqual({ secret: current, until: 1_500 })
    expect((await stored(1_500)).previous).toBeUndefined()
  })
})
