import { beforeAll, describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { CommandValues } from '../../../lib/cli/admin/command.ts'
import { findTenant, readTenantId, readTenantIdIfGiven } from '../../../lib/cli/admin/read-options.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
  for (const [id, name] of [
    ['t-1', 'Acme'],
    ['t-2', 'Twin'],
    ['t-3', 'Twin'],
    ['t-4', 't-1'],
  ]) {
    await makeTenant(table, { id: String(id), name: String(name), credits: parseCredits('1') }, TESTER)
  }
})

describe('read-tenant', () => {
  it.each([
    ['t-2', 't-2'],
    ['Acme', 't-1'],
    ['t-1', 't-1'],
  ])('%s means the tenant %s: an id counts before a name', async (text, id) => {
    expect(await findTenant(table, text)).toMatchObject({ id })
  })

  it('an id needs one read, however many tenants there are', async () => {
    const queryPage = () => Promise.reject(new Error('all tenants are read'))
    expect(await findTenant({ ...table, queryPage }, 't-2')).toEqual({ id: 't-2', name: 'Twin' })
  })

  it('a name of several tenants is refused with their ids', async () => {
    await expect(findTenant(table, 'Twin')).rejects.toThrow(
      '--tenant Twin: 2 tenants have this name; use the id: t-2, t-3',
    )
  })

  it('a name longer than any id finds its tenant too', async () => {
    const [name, own] = ['ä'.repeat(600), await engine.fresh()]
    await expect(findTenant(own, name)).rejects.toMatchObject({ code: 'not_found' })
    const { id } = await makeTenant(own, { name, credits: parseCredits('1') }, TESTER)
    expect(await findTenant(own, name)).toEqual({ id, name })
  })

  it('a word that no tenant has is refused', async () => {
    await expect(findTenant(table, 'acme')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('the option may be left out where a command allows it', async () => {
    const context = { table: async () => table }
    expect(await readTenantId(context, new CommandValues(new Map([['tenant', 'Acme']])))).toBe('t-1')
    expect(await readTenantIdIfGiven(context, new CommandValues(new Map()))).toBeUndefined()
  })
})
