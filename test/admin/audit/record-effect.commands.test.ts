import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { COMMANDS } from '../../../lib/admin/command-line/command-table.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { openTenant, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

let engine: TestTable
let table: Table
let tenant: TestTenant
beforeAll(async () => {
  engine = await startTestTable()
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table)
})
afterAll(() => engine.close())

type Options = Readonly<Record<string, string | true>>

/** Commands that change the table, with options; `isRepeatable` where the same command line has no effect the second time. */
const EFFECTS: readonly (readonly [string, (tenant: TestTenant) => Options, { readonly isRepeatable: boolean }])[] = [
  ['tenant create', () => ({ name: 'New', credits: '1' }), { isRepeatable: false }],
  ['tenant grant', ofTenant({ credits: '1' }), { isRepeatable: false }],
  ['tenant grant', ofTenant({ credits: '1', id: 'invoice-1' }), { isRepeatable: true }],
  ['tenant adjust', ofTenant({ amount: '-1', reason: 'why' }), { isRepeatable: false }],
  ['tenant adjust', ofTenant({ amount: '-1', reason: 'why', id: 'ticket-1' }), { isRepeatable: true }],
  ['tenant suspend', ofTenant({}), { isRepeatable: true }],
  ['tenant limit', ofTenant({ 'open-jobs': '5' }), { isRepeatable: true }],
  ['tenant budget', ofTenant({ amount: '5', period: 'month' }), { isRepeatable: true }],
  ['tenant alerts', ofTenant({ 'low-balance': '5' }), { isRepeatable: true }],
  ['key create', ofTenant({}), { isRepeatable: false }],
  ['key create', ofTenant({ budget: '5/day' }), { isRepeatable: false }],
  ['key set', ofKey({ rate: '30' }), { isRepeatable: true }],
  ['key set', ofKey({ budget: '5/month' }), { isRepeatable: true }],
  ['key rotate', ofKey({}), { isRepeatable: false }],
  ['key revoke', ofKey({}), { isRepeatable: true }],
  ['callback-secret rotate', ofTenant({}), { isRepeatable: false }],
]

function ofTenant(options: Options): (of: TestTenant) => Options {
  return ({ tenantId }) => ({ tenant: tenantId, ...options })
}

function ofKey(options: Options): (of: TestTenant) => Options {
  return ({ keyDigest }) => ({ key: keyDigest.slice(0, 8), ...options })
}

function run(name: string, options: Options): Promise<unknown> {
  const command = COMMANDS.find((each) => each.name === name)
  if (command === undefined) {
    throw new Error(`no command ${name}`)
  }
  return runCommand(command, { table, local: true, options })
}

const entries = async () => (await readAudit(table, { limit: 50 })).entries

describe('the entries of a command', () => {
  it.each(EFFECTS)(
    '%s writes exactly one, and none for a repeat without an effect: %#',
    async (name, optionsOf, { isRepeatable }) => {
      const before = await entries()
      await run(name, optionsOf(tenant))
      const after = await entries()
      expect(after).toHaveLength(before.length + 1)
      expect(after[0]).toMatchObject({ action: name, actor: 'tester@test', role: 'operator' })
      await run(name, optionsOf(tenant)).catch(() => undefined)
      expect(await entries()).toHaveLength(after.length + (isRepeatable ? 0 : 1))
    },
  )

  it('have no callback secret and no digest of a key', async () => {
    for (const [name, optionsOf] of EFFECTS) {
      await run(name, optionsOf(tenant)).catch(() => undefined)
    }
    const text = JSON.stringify(await entries())
    expect(text).not.toMatch(/whsec_|rg_live_/)
    expect(text).not.toContain(tenant.keyDigest)
  })

  it('are written by every command whose name says that it changes something', () => {
    const changes = COMMANDS.map(({ name }) => name).filter((name) => !READING.test(name))
    const tested = new Set([...EFFECTS.map(([name]) => name), ...TESTED_ELSEWHERE])
    expect(changes.filter((name) => !tested.has(name))).toEqual([])
  })
})

/** Commands that change nothing. */
const READING =
  /( (show|list|find|timeline|verify|export|check|diff)|^(ledger|audit|usage|health|stack-trace|tenant alerts))$/

/** Commands whose own tests show their entries. */
const TESTED_ELSEWHERE = [
  ...['tenant resume', 'job cancel', 'job redrive', 'usage backfill'],
  ...['secret set', 'secret remove', 'cdn-key rotate', 'cdn-key remove', 'cdn-key import'],
  ...['channel disable', 'channel enable', 'channel weight', 'channel priority', 'channel clear'],
  ...['model disable', 'model enable', 'model clear'],
]
