import { beforeAll, describe, expect, it } from 'vitest'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { grantTenant } from '#adapters/store/accounts/grant-credits.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

describe('a tenant', () => {
  it('gets an id, a callback secret of its own and its first credits', async () => {
    const [one, other] = [
      await makeTenant(table, { name: 'One', credits: parseCredits('10') }, TESTER),
      await makeTenant(table, { name: 'Two', credits: parseCredits('1') }, TESTER),
    ]
    expect(one).toMatchObject({ name: 'One', balance: { available: parseCredits('10'), granted: parseCredits('10') } })
    expect(one.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(one.webhookSecret).not.toBe(other.webhookSecret)
    expect(one.id).not.toBe(other.id)
  })

  it('under a given id is made once', async () => {
    await makeTenant(table, { id: 'fixed', name: 'One', credits: parseCredits('1') }, TESTER)
    await expect(
      makeTenant(table, { id: 'fixed', name: 'Two', credits: parseCredits('1') }, TESTER),
    ).rejects.toMatchObject({ code: 'id_taken' })
  })

  it('is recorded with its name and its first credits, and without its secret', async () => {
    const { id, webhookSecret } = await makeTenant(
      table,
      { name: 'Recorded', credits: parseCredits('10'), openJobsMax: 3 },
      { name: 'alice', role: 'operator' },
    )
    const { entries } = await readAudit(table, { limit: 10, targets: [id] })
    expect(entries).toMatchObject([
      {
        actor: 'alice',
        action: 'tenant create',
        before: null,
        after: { name: 'Recorded', amount: '10', openJobs: 3 },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain(webhookSecret)
  })

  it('is granted more, each grant once for itself', async () => {
    const { id } = await makeTenant(table, { name: 'One', credits: parseCredits('1') }, TESTER)
    await grantTenant(table, id, { credits: parseCredits('2'), actor: TESTER })
    expect((await grantTenant(table, id, { credits: parseCredits('2'), actor: TESTER })).tenant.balance.granted).toBe(
      parseCredits('5'),
    )
    await expect(grantTenant(table, 'nobody', { credits: parseCredits('2'), actor: TESTER })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
