import { describe, expect, it } from 'vitest'
import { readKeyBody, respondWithTenant } from '#lambdas/admin-api/write/changed-target.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useTestTable } from '../../engines/test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()

describe('changed-target', () => {
  it('shows a tenant and a key as they are stored, without a secret or a digest', async () => {
    const { tenantId, keyDigest, webhookSecret } = await openTenant(engine.table, '2')
    const openBucket = () => Promise.reject(new Error('not used'))
    const context = {
      table: engine.table,
      openBucket,
      nowMilliseconds: Date.now,
      openCatalogue: () => testCatalogue(),
      openUrlSigner: async () => () => '',
    }
    const tenant = await respondWithTenant(tenantId, context)
    const key = await readKeyBody(context, keyDigest.slice(0, 8))
    expect(tenant.body).toMatchObject({ object: 'tenant', id: tenantId, balance: { available: '2' } })
    expect(key).toMatchObject({ object: 'key', tenant: tenantId, state: 'active' })
    const shown = JSON.stringify([tenant, key])
    expect(shown).not.toContain(webhookSecret)
    expect(shown).not.toContain(keyDigest)
  })
})
