import { beforeAll, describe, expect, it } from '@jest/globals'
import { recordAudit } from '#store/audit/audit-entry.ts'
import type { Table } from '#store/table/table.ts'
import { audit, describeChange, recordEffect } from '../../../lib/cli/admin/audit.ts'
import { keySet } from '../../../lib/cli/admin/keys.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { recordingTable, runCommand } from './run-command.ts'

describe('audit', () => {
  const engine = useTestTable()
  let table: Table
  beforeAll(async () => {
    table = engine.table
    for (const [index, name] of ['alice', 'bob', 'alice'].entries()) {
      await recordAudit(table, {
        actor: { name, role: 'operator' },
        action: 'key set',
        target: { kind: 'key', id: `k${index}`, tenantId: 'acme' },
        before: { rate: 60, models: null },
        after: { rate: 60, models: ['chat', 'video'] },
        at: Date.now() - (2 - index) * 60 * 60_000,
      })
    }
  })

  const targets = (json: unknown) => Object(json).entries.map(({ target }: { target: string }) => target)

  it('shows who changed what, newest first', async () => {
    const { json, text } = await runCommand(audit, { table })
    expect(targets(json)).toEqual(['k2', 'k1', 'k0'])
    expect(text.split('\n')[1]).toMatch(/Z {2}alice +key set {2}k2 +models all -> chat\+video$/)
    expect(Object(json).entries[1]).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      actor: 'bob',
      role: 'operator',
      action: 'key set',
      kind: 'key',
      target: 'k1',
      tenant: 'acme',
      before: { rate: 60, models: null },
      after: { rate: 60, models: ['chat', 'video'] },
      request_id: null,
    })
  })

  it.each([
    [{ since: '90m' }, ['k2', 'k1']],
    [{ actor: 'ali' }, ['k2', 'k0']],
    [{ target: 'k1' }, ['k1']],
    [{ target: 'acme', limit: '2' }, ['k2', 'k1']],
  ])('with %j shows %j', async (options, expected) => {
    expect(targets((await runCommand(audit, { table, options })).json)).toEqual(expected)
  })

  it('finds a tenant or a key by name, and everything of that name where the name is not unique', async () => {
    const own = await engine.fresh()
    const { tenantId, keyDigest } = await openTenant(own)
    const { tenantId: twinId } = await openTenant(own)
    const options = { target: 'Test' }
    expect(new Set(targets((await runCommand(audit, { table: own, options })).json))).toEqual(
      new Set([tenantId, twinId, keyDigest.slice(0, 8), expect.any(String)]),
    )
    await runCommand(keySet, { table: own, options: { key: keyDigest.slice(0, 8), name: 'web shop' } })
    const { json } = await runCommand(audit, { table: own, options: { target: 'web shop' } })
    expect(targets(json)).toEqual([keyDigest.slice(0, 8), keyDigest.slice(0, 8)])
  })

  it('refuses a name of more targets than one search takes', async () => {
    const own = await engine.fresh()
    await Promise.all(Array.from({ length: 51 }, () => openTenant(own)))
    await expect(runCommand(audit, { table: own, options: { target: 'Test' } })).rejects.toThrow(
      '--target Test: 51 tenants and keys have this name; use an id',
    )
  })

  it('writes every entry as CSV', async () => {
    let written = ''
    const write = async (text: string) => {
      written += text
    }
    const answer = await runCommand(audit, { table, options: { csv: true, actor: 'bob' }, write })
    expect(answer.json).toBeUndefined()
    const [header, line, ...rest] = written.split('\r\n')
    expect(header).toBe('at,actor,role,action,kind,target,tenant,before,after,request_id')
    expect(line).toMatch(/,bob,operator,key set,key,k1,acme,"\{""models"":null,""rate"":60\}","\{.*\}",$/)
    expect(rest).toEqual([''])
  })

  it('refuses a time that is none', async () => {
    await expect(runCommand(audit, { table, options: { since: 'yesterday' } })).rejects.toThrow(
      '--since yesterday: use a duration such as 24h or 7d, or a date such as 2026-11-01',
    )
  })
})

describe('describeChange', () => {
  it.each([
    [
      'tenant',
      { state: 'active' },
      { state: 'suspended', reason: 'unpaid' },
      'state active -> suspended, reason unpaid',
    ],
    ['tenant', null, { name: 'Acme', amount: '10' }, 'name Acme, amount 10'],
    ['key', { models: null, rate: 60 }, { models: ['a', 'b'], rate: 60 }, 'models all -> a+b'],
    ['key', null, { models: null, rate: null }, 'models all'],
    ['key', { rate: 60 }, null, 'rate 60 -> none'],
    ['channel', { state: 'disabled', weight: 3 }, { state: null, weight: 3 }, 'state disabled -> as configured'],
    ['model', { state: null }, { state: 'disabled' }, 'state as configured -> disabled'],
    ['secret', null, null, ''],
    ['key', { name: null }, { name: null }, ''],
  ])('of a %s with %j and %j is %j', (kind, before, after, change) => {
    expect(describeChange({ kind, before, after })).toBe(change)
  })
})

const EFFECT = {
  action: 'secret set',
  target: { kind: 'secret', id: 'P1_API_KEY' },
  before: null,
  after: { state: 'set' },
} as const

describe('recordEffect', () => {
  it('records an effect outside of the table with the actor and the time', async () => {
    const { table, entries } = recordingTable()
    const actor = async () => ({ name: 'alice', role: 'operator' }) as const
    const before = Date.now()
    await recordEffect({ table: async () => table, actor }, EFFECT)
    expect(entries).toMatchObject([
      { actor: 'alice', action: 'secret set', target: 'P1_API_KEY', at: expect.any(Number) },
    ])
    expect(Number(entries[0]?.at)).toBeGreaterThanOrEqual(before)
  })

  it('fails where nobody can be named, so that a change that follows is not made', async () => {
    const { table, entries } = recordingTable()
    const actor = () => Promise.reject(new Error('no credentials'))
    await expect(recordEffect({ table: async () => table, actor }, EFFECT)).rejects.toThrow('no credentials')
    expect(entries).toEqual([])
  })
})
