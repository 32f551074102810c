import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { findCaller } from '#store/callers.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { keyCreate, keyList, keyRevoke, keyRotate } from '../../../lib/cli/admin/keys.ts'
import { tenantSuspend } from '../../../lib/cli/admin/tenants.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { TESTER } from '../../engines/tester.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()
let table: Table
let tenant: string
const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-admin-'))
beforeAll(async () => {
  writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(testCatalogue().config))
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = (await openTenant(table)).tenantId
})
afterAll(async () => {
  rmSync(dataDirectory, { recursive: true })
})

const DAY = 86_400_000
const create = async (options: Record<string, string> = {}) =>
  Object((await runCommand(keyCreate, { table, options: { tenant, ...options } })).json)
const rotate = async (key: string, options: Record<string, string> = {}) =>
  Object((await runCommand(keyRotate, { table, options: { key, ...options } })).json)
const list = async (options: Record<string, string> = {}) =>
  Object((await runCommand(keyList, { table, options })).json).keys
const row = async (id: string) => (await list()).find((key: { id: string }) => key.id === id)
const callerOf = (key: string, inMilliseconds = 0) =>
  findCaller(table, sha256Hex(key), Math.trunc((Date.now() + inMilliseconds) / 1000))

describe('key-commands: a new key', () => {
  it('without limits is told with the four members that it always had', async () => {
    const made = await create({ rate: 'none' })
    expect(made).toEqual({ id: expect.any(String), key: expect.any(String), tenant, models: null })
    expect(await callerOf(made.key)).toMatchObject({ ratePerMinute: undefined })
  })

  it('has a rate, unless told otherwise', async () => {
    const made = await create()
    expect(made).toMatchObject({ rate_per_minute: 60 })
    expect(await callerOf(made.key)).toMatchObject({ ratePerMinute: 60 })
    expect(await callerOf((await rotate(made.id)).key)).toMatchObject({ ratePerMinute: 60 })
  })

  it('made before keys had a rate has none, and its successor has none', async () => {
    const id = await storeApiKey(table, { key: 'of-before', tenantId: tenant, models: null }, TESTER)
    expect(await row(id)).toMatchObject({ rate_per_minute: null })
    expect(await callerOf((await rotate(id)).key)).toMatchObject({ ratePerMinute: undefined })
  })

  it('has the name, models, end and rate that were asked for, and works until then', async () => {
    const made = await create({ name: 'web shop', models: 'a, b', expires: '90d', rate: '120' })
    expect(made).toMatchObject({ models: ['a', 'b'], name: 'web shop', rate_per_minute: 120 })
    expect(Math.abs(Date.parse(made.expires_at) - Date.now() - 90 * DAY)).toBeLessThan(60_000)
    expect(await row(made.id)).toEqual({
      id: made.id,
      budget: null,
      tenant,
      state: 'active',
      models: ['a', 'b'],
      created_at: expect.any(String),
      name: 'web shop',
      expires_at: made.expires_at,
      rate_per_minute: 120,
    })
    expect(await callerOf(made.key, 89 * DAY)).toMatchObject({ models: ['a', 'b'], ratePerMinute: 120 })
    expect(await callerOf(made.key, 91 * DAY)).toBeUndefined()
  })

  it.each([
    [{ rate: '0' }, '--rate 0: use a whole number from 1'],
    [{ rate: '1e3' }, '--rate 1e3: use a whole number from 1'],
    [{ name: 'a\u001b[2J' }, '--name contains a control character'],
    [{ rate: '60001' }, '--rate 60001: use at most 60000, or none'],
    [{ expires: '2020-01-01' }, '--expires 2020-01-01: use a time in the future'],
    [{ models: ' , ' }, '--models is empty: name at least one model'],
    [{ tenant: 'nobody' }, 'no tenant nobody'],
  ])('is refused with %j, and none is stored', async (options, sentence) => {
    await expect(create(options)).rejects.toThrow(sentence)
    expect(await list({ tenant })).toHaveLength(1)
  })

  it('for a model that the running configuration does not know is made with a warning that names the nearest', async () => {
    const warnings: string[] = []
    const context = { table, local: true, dataDirectory, outputs: { BaseUrl: 'http://x' } }
    const options = { tenant, models: 'famA-2,famB-1.0-t2w' }
    const warn = (sentence: string) => warnings.push(sentence)
    await runCommand(keyCreate, { ...context, warn, options })
    expect(warnings).toEqual(['the deployed configuration has no model famB-1.0-t2w; did you mean famB-1.0-t2v?'])
  })
})

describe('key-commands: the list of keys', () => {
  it('is of one tenant when told so, and says what a request with each key meets', async () => {
    const other = (await openTenant(table)).tenantId
    const revoked = await create()
    await runCommand(keyRevoke, { table, options: { key: revoked.id } })
    const ending = await create({ expires: '1s' })
    const past = Date.now() + 2_000
    expect((await list({ tenant: other })).map((key: { tenant: string }) => key.tenant)).toEqual([other])
    expect((await row(revoked.id)).state).toBe('revoked')
    await runCommand(tenantSuspend, { table, options: { tenant } })
    expect((await row(revoked.id)).state).toBe('revoked')
    expect(await callerOf(ending.key, past - Date.now())).toBeUndefined()
    const states = (await list({ tenant })).map(({ state }: { state: string }) => state)
    expect(states).toContain('suspended')
  })
})

describe('key-commands: the keys of a tenant', () => {
  it('are an error when there is no such tenant, and not an empty list', async () => {
    await expect(list({ tenant: 'nope' })).rejects.toThrow('no tenant nope')
  })

  it('are made with a warning while it is suspended', async () => {
    await runCommand(tenantSuspend, { table, options: { tenant } })
    const warnings: string[] = []
    const warn = (sentence: string) => void warnings.push(sentence)
    await runCommand(keyCreate, { table, options: { tenant }, warn })
    expect(warnings).toEqual([`tenant ${tenant} is suspended: the key is refused until \`tenant resume\``])
  })
})
