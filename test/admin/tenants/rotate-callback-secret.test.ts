import { describe, expect, it } from 'vitest'
import { rotateCallbackSecret } from '#lambdas/admin/tenants/rotate-callback-secret.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()

describe('rotate-callback-secret', () => {
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
