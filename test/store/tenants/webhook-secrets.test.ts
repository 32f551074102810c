import { describe, expect, it } from '@jest/globals'
import { readAudit } from '#store/audit/read-audit.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { readWebhookSecrets, rotateWebhookSecret } from '#store/tenants/webhook-secrets.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, TESTER } from '../../engines/video-jobs.ts'

const { table } = useTestTable()

const read = (tenantId: string, nowMilliseconds = 1_000) => readWebhookSecrets(table, tenantId, { nowMilliseconds })

describe('the callback secrets of a tenant', () => {
  it('are one until it is rotated, and two during the overlap', async () => {
    const { tenantId, webhookSecret } = await openTenant(table, '1')
    expect(await read(tenantId)).toEqual({ current: webhookSecret, previous: undefined })
    await rotateWebhookSecret(table, tenantId, {
      replaces: webhookSecret,
      secret: 'second',
      previousUntil: 2_000,
      actor: TESTER,
    })
    expect(await read(tenantId, 1_999)).toEqual({
      current: 'second',
      previous: { secret: webhookSecret, until: 2_000 },
    })
    expect(await read(tenantId, 2_000)).toEqual({ current: 'second', previous: undefined })
    expect(await getTenant(table, tenantId)).toMatchObject({ webhookSecret: 'second', name: 'Test' })
  })

  it('are one again in the record too when a rotation has no overlap', async () => {
    const { tenantId, webhookSecret } = await openTenant(table, '1')
    await rotateWebhookSecret(table, tenantId, {
      replaces: webhookSecret,
      secret: 'second',
      previousUntil: 2_000,
      actor: TESTER,
    })
    const leaked = { replaces: 'second', secret: 'third', previousUntil: undefined }
    await rotateWebhookSecret(table, tenantId, { ...leaked, actor: TESTER })
    await rotateWebhookSecret(table, tenantId, { ...leaked, actor: TESTER })
    expect(await read(tenantId, 0)).toEqual({ current: 'third', previous: undefined })
    expect(await table.readItem(tableKeys.tenant(tenantId))).not.toHaveProperty('previousWebhookSecret')
  })

  it('are two at most: a rotation during the overlap ends the oldest', async () => {
    const { tenantId, webhookSecret } = await openTenant(table, '1')
    await rotateWebhookSecret(table, tenantId, {
      replaces: webhookSecret,
      secret: 'second',
      previousUntil: 2_000,
      actor: TESTER,
    })
    await rotateWebhookSecret(table, tenantId, {
      replaces: 'second',
      secret: 'third',
      previousUntil: 3_000,
      actor: TESTER,
    })
    expect(await read(tenantId)).toEqual({ current: 'third', previous: { secret: 'second', until: 3_000 } })
  })

  it('that two people rotate at the same time are rotated once, and the other is told', async () => {
    const { tenantId, webhookSecret } = await openTenant(table, '1')
    const rotation = { replaces: webhookSecret, previousUntil: 2_000 }
    const outcomes = await Promise.allSettled(
      ['mine', 'theirs'].map((secret) => rotateWebhookSecret(table, tenantId, { ...rotation, secret, actor: TESTER })),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: expect.objectContaining({ code: 'changed_meanwhile' }),
    })
    expect((await read(tenantId)).previous?.secret).toBe(webhookSecret)
  })

  it('are rotated once when the write is repeated because its answer was lost', async () => {
    const { tenantId, webhookSecret } = await openTenant(table, '1')
    const rotation = { replaces: webhookSecret, secret: 'second', previousUntil: 2_000 }
    await rotateWebhookSecret(table, tenantId, { ...rotation, actor: TESTER })
    await rotateWebhookSecret(table, tenantId, { ...rotation, actor: TESTER })
    expect(await read(tenantId)).toMatchObject({ current: 'second', previous: { secret: webhookSecret } })
  })

  it('are recorded when they are rotated, once, and never shown there', async () => {
    const { tenantId, webhookSecret } = await openTenant(table, '1')
    const rotation = { replaces: webhookSecret, secret: 'whsec_second', previousUntil: 2_000, actor: TESTER }
    await rotateWebhookSecret(table, tenantId, rotation)
    await rotateWebhookSecret(table, tenantId, rotation)
    const { entries } = await readAudit(table, { limit: 10, targets: [tenantId] })
    expect(entries.map(({ action, after }) => [action, after])).toEqual([
      ['callback-secret rotate', { until: '1970-01-01T00:00:02.000Z' }],
      ['key create', expect.anything()],
      ['tenant create', expect.anything()],
    ])
    expect(JSON.stringify(entries)).not.toMatch(/whsec_/)
  })

  it('of nobody are an error, and no tenant appears', async () => {
    await expect(read('nobody')).rejects.toMatchObject({ code: 'not_found' })
    const rotation = rotateWebhookSecret(table, 'nobody', {
      replaces: '',
      secret: 'second',
      previousUntil: 2_000,
      actor: TESTER,
    })
    await expect(rotation).rejects.toMatchObject({ code: 'not_found' })
    await expect(getTenant(table, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})
