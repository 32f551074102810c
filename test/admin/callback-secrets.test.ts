import { describe, expect, it } from '@jest/globals'
import { revealCallbackSecret } from '#lambdas/admin/callback-secrets.writes.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, TESTER } from '../engines/video-jobs.ts'

describe('revealCallbackSecret', () => {
  const engine = useTestTable()

  it('keeps the old secret for the overlap alone, and lets one of two rotations at once win', async () => {
    const { table } = engine
    const { tenantId, webhookSecret: current } = await openTenant(table)
    const services = {
      table,
      actor: TESTER,
      session: undefined,
      warn: () => undefined,
      checkModels: async () => undefined,
      config: () => testCatalogue().config,
    }
    const input = { tenant_id: tenantId, rotate: true, again: false, overlap_seconds: 1 }
    const rotate = () => revealCallbackSecret.run(input, { ...services, nowMilliseconds: () => 1_000 })
    const outcomes = await Promise.allSettled([rotate(), rotate()])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const stored = (nowMilliseconds: number) => readWebhookSecrets(table, tenantId, { nowMilliseconds })
    expect((await stored(1_900)).previous).toEqual({ secret: current, until: 2_000 })
    expect((await stored(2_000)).previous).toBeUndefined()
  })
})
