import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { grantTenant, makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { TenantExistsError, TenantNotFoundError } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money/money.ts'
import { startTestTable, type TestTable } from '../../../engines/start-test-table.ts'

let engine: TestTable
let table: Table
beforeAll(async () => {
  engine = await startTestTable()
  table = engine.table
})
afterAll(() => engine.close())

describe('a tenant', () => {
  it('gets an id, a callback secret of its own and its first credits', async () => {
    const [one, other] = [
      await makeTenant(table, { name: 'One', credits: parseCredits('10') }),
      await makeTenant(table, { name: 'Two', credits: parseCredits('1') }),
    ]
    expect(one).toMatchObject({ name: 'One', balance: { available: parseCredits('10'), granted: parseCredits('10') } })
    expect(one.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(one.webhookSecret).not.toBe(other.webhookSecret)
    expect(one.id).not.toBe(other.id)
  })

  it('under a given id is made once', async () => {
    await makeTenant(table, { id: 'fixed', name: 'One', credits: parseCredits('1') })
    await expect(makeTenant(table, { id: 'fixed', name: 'Two', credits: parseCredits('1') })).rejects.toBeInstanceOf(
      TenantExistsError,
    )
  })

  it('is granted more, each grant once for itself', async () => {
    const { id } = await makeTenant(table, { name: 'One', credits: parseCredits('1') })
    await grantTenant(table, id, { credits: parseCredits('2') })
    expect((await grantTenant(table, id, { credits: parseCredits('2') })).tenant.balance.granted).toBe(
      parseCredits('5'),
    )
    await expect(grantTenant(table, 'nobody', { credits: parseCredits('2') })).rejects.toBeInstanceOf(
      TenantNotFoundError,
    )
  })
})
