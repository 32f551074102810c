import { beforeEach, describe, expect, it } from '@jest/globals'
import { UsageGroups } from '#core/api/usage.ts'
import { parseCredits } from '#core/money.ts'
import { type CountedSettlement, countedUsage, dayOf } from '#core/pricing/usage.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import { countUsage } from '#store/usage.ts'
import {
  bar,
  readUsage,
  USAGE_CSV_COLUMNS,
  usage,
  usageCsvHeader,
  usageCsvLine,
  usageRows,
  usageTable,
} from '../../../lib/cli/admin/usage.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { usageCounter } from '../../core/pricing/usage-counters.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'
import { usageRow } from './usage-rows.ts'

describe('usage', () => {
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

const ROWS = [
  usageRow('chat-large', { requests: 12, inputTokens: 1_000, outputTokens: 5, cost: 2_000_000n }),
  usageRow('famB', { requests: 1, videoMilliseconds: 5_040, cost: 500_000n }),
]

const show = (rows = ROWS, columns?: number) => usageTable(rows, { by: ['model'], columns }).split('\n')

describe('usageTable', () => {
  it('aligns labels left and numbers right, leaves out numbers that no line has, and ends with the total', () => {
    expect(show()).toEqual([
      'TENANT  MODEL       REQUESTS  INPUT  OUTPUT  SECONDS  COST',
      'acme    chat-large        12   1000       5        0     2',
      'acme    famB               1      0       0     5.04   0.5',
      'total                     13   1000       5     5.04   2.5',
    ])
  })

  it('shows the costs as bars in the room that a terminal has left', () => {
    const [header = '', first = '', second = '', total = ''] = show(ROWS, 80)
    expect([header, total]).toEqual([show()[0], show()[3]])
    expect(first).toBe(`${show()[1]}  ${'█'.repeat(20)}`)
    expect(second).toBe(`${show()[2]}  ${'█'.repeat(5)}`)
    expect(first).toHaveLength(80)
  })

  it('shows bars of at most forty cells', () => {
    expect(show(ROWS, 500)[1]).toBe(`${show()[1]}  ${'█'.repeat(40)}`)
  })

  it('shows the bars below a table that leaves no room for them, without labels that never differ', () => {
    expect(show(ROWS, 65)).toEqual([...show(), '', `chat-large  ${'█'.repeat(40)}`, `famB        ${'█'.repeat(10)}`])
  })

  it('shows the smallest bar for a cost of less than a millionth of the highest', () => {
    const rows = [usageRow('large', { cost: 2_000_000n }), usageRow('small', { cost: 1n })]
    expect(show(rows, 80)[2]).toMatch(/ ▏$/)
  })

  it('shows no bars without room for them, without a terminal, and without costs', () => {
    expect(show(ROWS, 19)).toEqual(show())
    expect(show([usageRow('free', { requests: 1 })], 200).join('')).not.toContain('█')
  })

  it('shows the name of a tenant and of a key beside the id, and escapes control characters', () => {
    const row = usageRow('m', {}, { tenantName: 'Acme\u001b[2J', dimensions: { key: 'key1' }, keyName: 'search' })
    const [, line] = usageTable([row], { by: ['key'], columns: undefined }).split('\n')
    expect(line).toMatch(/^Acme\\u\{1b\}\[2J \(acme\) {2}key1 \(search\) {2}/)
  })
})

describe('usageRows', () => {
  it('names the values of each group by their dimensions, and the keys that have a name', () => {
    const by = ['key', 'day'] as const
    const groups = new UsageGroups(by)
    groups.add(usageCounter({ keyId: 'key1' }, { cost: 1n }))
    groups.add(usageCounter({ keyId: 'key2' }, { cost: 2n }))
    const tenant = { id: 'acme', name: 'Acme' }
    const used = { tenant, groups: groups.sorted(), total: groups.total }
    expect(usageRows(used, by, new Map([['key2', 'search']]))).toEqual([
      {
        tenant: 'acme',
        tenantName: 'Acme',
        dimensions: { key: 'key1', day: '2026-11-22' },
        keyName: undefined,
        sums: expect.objectContaining({ cost: 1n }),
      },
      {
        tenant: 'acme',
        tenantName: 'Acme',
        dimensions: { key: 'key2', day: '2026-11-22' },
        keyName: 'search',
        sums: expect.objectContaining({ cost: 2n }),
      },
    ])
  })
})

describe('the CSV of usage', () => {
  it('has a cell for each column, empty where usage is not grouped by it', () => {
    const sums = { requests: 2, inputTokens: 3, cachedInputTokens: 4, cacheWriteTokens: 5, outputTokens: 6, images: 7 }
    const row = usageRow('m,1', { ...sums, videoMilliseconds: 5_040, cost: 21n })
    expect(usageCsvLine(row)).toBe('acme,acme,,"m,1",,,,2,3,4,5,6,5.04,7,0.000021\r\n')
    expect(usageCsvHeader()).toBe(`${USAGE_CSV_COLUMNS.replaceAll(' ', '')}\r\n`)
    expect(usageCsvHeader().split(',')).toHaveLength(15)
  })

  it('keeps a spreadsheet from running a model as a formula', () => {
    expect(usageCsvLine(usageRow('=1+1', {}))).toContain(",'=1+1,")
  })
})

describe('readUsage', () => {
  const engine = useTestTable()

  async function settle(table: Table, tenantId: string, day: string): Promise<void> {
    const settlement = { tenantId, at: Date.parse(day), keyId: 'key1', operation: 'create-image', model: 'm' }
    await table.transact(countUsage([{ ...settlement, usage: countedUsage({}), actual: parseCredits('0.01') }]))
  }

  it('asks one query for each tenant, and leaves out tenants without usage in the range', async () => {
    const { table } = engine
    await settle(table, 'a', '2026-11-01')
    await settle(table, 'a', '2026-11-02')
    await settle(table, 'b', '2026-10-31')
    await settle(table, 'c', '2026-11-01')
    let queries = 0
    const counting: Table = {
      ...table,
      queryPage: (query, startKey) => {
        queries += 1
        return table.queryPage(query, startKey)
      },
    }
    const tenants = ['a', 'b', 'c'].map((id) => ({ id, name: id }))
    const found = []
    for await (const used of readUsage(counting, tenants, { from: '2026-11-01', to: '2026-11-30', by: ['day'] })) {
      found.push([used.tenant.id, used.groups.length, used.total.cost])
    }
    expect(found).toEqual([
      ['a', 2, 20_000n],
      ['c', 1, 10_000n],
    ])
    expect(queries).toBe(3)
  })
})

describe('bar', () => {
  it('fills its width for a whole, and nothing for zero', () => {
    expect(bar(1, 4)).toBe('████')
    expect(bar(0, 4)).toBe('')
  })

  it('shows eighths of a cell', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((eighths) => bar(eighths / 32, 4))).toEqual([
      '▏',
      '▎',
      '▍',
      '▌',
      '▋',
      '▊',
      '▉',
      '█',
      '█▏',
    ])
  })

  it('shows the smallest share above zero', () => {
    expect(bar(1e-9, 4)).toBe('▏')
  })

  it('is never wider than a whole', () => {
    expect(bar(0.9999, 4)).toBe('████')
  })
})
