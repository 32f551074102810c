import { beforeEach, describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money.ts'
import { type CountedSettlement, countedUsage, dayOf } from '#core/pricing/usage.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import { countUsage } from '#store/usage.ts'
import { usage } from '../../../lib/cli/admin/usage.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'

import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { TESTER } from '../../engines/tester.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()
let table: TableWithClient

async function openTenant(id: string, name = id): Promise<void> {
  const credits = parseCredits('100')
  await createTenant(table, { id, name, webhookSecret: 's', credits, grantId: 'g', nowMilliseconds: 0 }, TESTER)
}

async function settle(tenantId: string, credits: string, changes: Partial<CountedSettlement> = {}): Promise<void> {
  const settlement = {
    tenantId,
    at: Date.parse('2026-11-02'),
    keyId: 'key1',
    operation: 'create-chat-completion',
    model: 'chat-default',
    usage: countedUsage({ inputTokens: 5 }),
    actual: parseCredits(credits),
    ...changes,
  }
  await table.transact(countUsage([settlement]))
}

beforeEach(async () => {
  table = await engine.fresh()
  await openTenant('t1', 'Acme')
  await openTenant('t2', 'Beta')
  await openTenant('t3', 'Idle')
  await settle('t1', '0.5')
  await settle('t1', '0.25', { model: 'chat-large', at: Date.parse('2026-11-03') })
  await settle('t2', '3')
})

const RANGE = { from: '2026-11-01', to: '2026-11-30' }
type Options = Readonly<Record<string, string | true>>
const run = (options: Options = {}) => runCommand(usage, { table, options: { ...RANGE, ...options } })
const json = async (options: Options = {}) => Object((await run(options)).json)
const costs = async (options: Options = {}) =>
  (await json(options)).rows.map((row: Record<string, unknown>) => [row.tenant_name, row.day ?? row.model, row.cost])

describe('usage', () => {
  it('shows every tenant with usage by model, the highest cost first, and the exact total', async () => {
    expect(await costs()).toEqual([
      ['Beta', 'chat-default', '3'],
      ['Acme', 'chat-default', '0.5'],
      ['Acme', 'chat-large', '0.25'],
    ])
    expect((await json()).total).toMatchObject({ requests: 3, input_tokens: 15, cost: '3.75' })
  })

  it('shows days in their order', async () => {
    expect(await costs({ by: 'day', tenant: 't1' })).toEqual([
      ['Acme', '2026-11-02', '0.5'],
      ['Acme', '2026-11-03', '0.25'],
    ])
  })

  it('finds a tenant by its id and by its name, the id first', async () => {
    await openTenant('Beta')
    await settle('Beta', '9')
    expect((await json({ tenant: 'Beta' })).total.cost).toBe('9')
    expect((await json({ tenant: 'Acme' })).total.cost).toBe('0.75')
    await expect(run({ tenant: 'nobody' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('refuses a name of two tenants', async () => {
    await openTenant('t4', 'Acme')
    await expect(run({ tenant: 'Acme' })).rejects.toThrow('2 tenants have this name; use the id')
  })

  it('names keys', async () => {
    const keyId = await storeApiKey(
      table,
      { key: 'a-key-of-acme', tenantId: 't1', models: null, name: 'search' },
      TESTER,
    )
    await settle('t1', '1', { keyId })
    const { rows } = await json({ by: 'key', tenant: 't1' })
    expect(rows).toMatchObject([
      { key: keyId, key_name: 'search', cost: '1' },
      { key: 'key1', key_name: null, cost: '0.75' },
    ])
  })

  it('covers the last thirty days without a range', async () => {
    await settle('t3', '0.1', { at: Date.now() - 29 * 86_400_000 })
    await settle('t3', '0.7', { at: Date.now() - 31 * 86_400_000 })
    const { json: shown } = await runCommand(usage, { table, options: { tenant: 't3' } })
    expect(shown).toMatchObject({ to: dayOf(Date.now()), total: { cost: '0.1' } })
  })

  it('says that there was no usage', async () => {
    expect((await run({ tenant: 'Idle' })).text).toBe('no usage from 2026-11-01 to 2026-11-30')
  })

  it('draws bars on a terminal only', async () => {
    expect((await runCommand(usage, { table, options: RANGE, columns: 120 })).text).toContain('█')
    expect((await run()).text).not.toContain('█')
  })

  it('writes CSV with the same columns for every grouping', async () => {
    let written = ''
    const write = async (text: string) => {
      written += text
    }
    const answer = await runCommand(usage, { table, write, options: { ...RANGE, by: 'operation', csv: true } })
    expect(answer.json).toBeUndefined()
    expect(written.split('\r\n')).toEqual([
      expect.stringMatching(/^tenant,tenant_name,day,model,key,key_name,operation,requests,.*,cost$/),
      't1,Acme,,,,,create-chat-completion,2,10,0,0,0,0,0,0.75',
      't2,Beta,,,,,create-chat-completion,1,5,0,0,0,0,0,3',
      '',
    ])
  })

  it.each<[string, Options]>([
    ['--by', { by: 'tenant' }],
    ['--by', { by: 'day,day' }],
    ['--from', { from: '2026-11-31' }],
    ['--from', { from: '2026-12-01' }],
    ['--to', { to: 'today' }],
    ['--csv', { csv: true, json: true }],
  ])('refuses a wrong %s: %j', async (option, options) => {
    const refusal = expect(run(options)).rejects
    await refusal.toThrow(UsageError)
    await expect(run(options)).rejects.toThrow(option)
  })
})
