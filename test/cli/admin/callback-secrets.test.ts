import { describe, expect, it } from '@jest/globals'
import { getTenant } from '#store/tenants/tenants.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { callbackSecretRotate, callbackSecretShow } from '../../../lib/cli/admin/callback-secrets.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'

const engine = useTestTable()

const asked: string[] = []
const confirm = async (sentence: string) => void asked.push(sentence)
const rotate = (tenant: string, overlap?: string) =>
  runCommand(callbackSecretRotate, { table: engine.table, options: { tenant, overlap }, confirm })
const show = (tenant: string) => runCommand(callbackSecretShow, { table: engine.table, options: { tenant } })

describe('callback-secret rotate', () => {
  it('shows the new secret and the old one with the end of the overlap, as show does after it', async () => {
    const { tenantId, webhookSecret } = await openTenant(engine.table, '1')
    const before = Date.now()
    const { json } = await rotate(tenantId, '2h')
    expect(json).toMatchObject({
      tenant: tenantId,
      webhook_secret: expect.stringMatching(/^whsec_/),
      previous_webhook_secret: webhookSecret,
    })
    const { previous_until } = Object(json)
    expect(Date.parse(previous_until)).toBeGreaterThanOrEqual(before + 2 * 3_600_000)
    expect((await show(tenantId)).json).toEqual(json)
    expect((await getTenant(engine.table, tenantId)).webhookSecret).toBe(Object(json).webhook_secret)
  })

  it('lasts a day unless said, and 0s ends the old secret at once', async () => {
    const { tenantId } = await openTenant(engine.table, '1')
    const { previous_until } = Object((await rotate(tenantId)).json)
    expect(Date.parse(previous_until)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    expect((await rotate(tenantId, '0s')).json).toMatchObject({ previous_webhook_secret: null, previous_until: null })
    expect((await show(tenantId)).json).toMatchObject({ previous_webhook_secret: null })
    const atAnyTime = await readWebhookSecrets(engine.table, tenantId, { nowMilliseconds: 0 })
    expect(atAnyTime.previous).toBeUndefined()
  })

  it('asks before it ends the oldest of three secrets, and changes nothing without a yes', async () => {
    const { tenantId } = await openTenant(engine.table, '1')
    asked.length = 0
    await rotate(tenantId)
    expect(asked).toEqual([])
    await rotate(tenantId)
    expect(asked).toEqual([expect.stringContaining('would end now')])
    const before = await show(tenantId)
    const refused = runCommand(callbackSecretRotate, {
      table: engine.table,
      options: { tenant: tenantId },
      confirm: () => Promise.reject(new UsageError('no')),
    })
    await expect(refused).rejects.toBeInstanceOf(UsageError)
    expect(await show(tenantId)).toEqual(before)
  })

  it('refuses a duration that makes no sense, and a tenant that is not there', async () => {
    await expect(rotate('nobody', 'soon')).rejects.toBeInstanceOf(UsageError)
    await expect(rotate('nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})
