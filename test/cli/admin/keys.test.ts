import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { limitsOf } from '#core/identity.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { findCaller } from '#store/callers.ts'
import { generateApiKey, putApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { admitSubject, digestOfSubject } from '#store/keys/subject-keys.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import {
  findKey,
  keyCreate,
  keyList,
  keyRevoke,
  keyRotate,
  keySet,
  keyShow,
  readExpiry,
  readModels,
  readRate,
} from '../../../lib/cli/admin/keys.ts'
import { unknownModels } from '../../../lib/cli/admin/operation-command.ts'
import { tenantSuspend } from '../../../lib/cli/admin/tenants.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, TESTER } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'

describe('key commands:', () => {
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

  describe('a new key', () => {
    it('without limits is told with the four fields that it always had', async () => {
      const made = await create({ rate: 'none' })
      expect(made).toEqual({ id: expect.any(String), key: expect.any(String), tenant, models: null })
      expect(await callerOf(made.key)).toMatchObject({ ratePerMinute: undefined })
    })

    it('has a rate, unless told otherwise', async () => {
      const made = await create()
      expect(made).toMatchObject({ rate_per_minute: 300 })
      expect(await callerOf(made.key)).toMatchObject({ ratePerMinute: 300 })
      expect(await callerOf((await rotate(made.id)).key)).toMatchObject({ ratePerMinute: 300 })
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
      [{ rate: '60001' }, '--rate 60001: use a whole number from 1 to 60000, or none'],
      [{ expires: '2020-01-01' }, '--expires 2020-01-01: use a time in the future'],
      [{ models: ' , ' }, '--models is empty: name at least one model'],
      [{ models: 'none' }, '--models: `none` would lock the key out: name at least one model'],
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
      expect(warnings).toEqual(['the configuration has no model famB-1.0-t2w; did you mean famB-1.0-t2v?'])
    })
  })

  it('key revoke says of a key that is revoked already that it was, and asks nobody', async () => {
    const { id: key } = await create()
    const said: string[] = []
    const note = (sentence: string) => void said.push(sentence)
    const confirm = async (sentence: string) => note(sentence)
    const revoke = async () => (await runCommand(keyRevoke, { table, confirm, warn: note, options: { key } })).text
    const told = `key ${key} is revoked: every request with it is refused`
    expect([await revoke(), await revoke()]).toEqual([told, told])
    expect(said).toEqual([expect.stringContaining('permanently'), `key ${key} was revoked already`])
  })

  describe('the list of keys', () => {
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

  it('key show tells the subject, the issuer and the rule of a key, where it has them', async () => {
    const subject = { issuer: 'https://token.example.com', subject: 'repo:acme/app', tenantId: tenant }
    const limits = limitsOf({ name: 'ci', when: {}, tenant, rate: 60 })
    await admitSubject(table, { ...subject, digest: digestOfSubject(subject), limits }, Date.now())
    const shown = async (key: string) => (await runCommand(keyShow, { table, options: { key } })).text
    expect(await shown('repo:acme/app')).toMatch(
      /\n\nsubject +repo:acme\/app\nissuer +https:\/\/token\.example\.com\nrule +ci$/,
    )
    expect(await shown((await create()).id)).not.toContain('issuer')
  })

  it('key set names the option of what a rule does not allow', async () => {
    const subject = { issuer: 'https://token.example.com', subject: 'repo:acme/app', tenantId: tenant }
    const limits = limitsOf({ name: 'ci', when: {}, tenant, rate: 60 })
    await admitSubject(table, { ...subject, digest: digestOfSubject(subject), limits }, Date.now())
    const raised = runCommand(keySet, { table, options: { key: 'repo:acme/app', rate: '61' } })
    await expect(raised).rejects.toThrow(/^--rate: the rule "ci" of its issuer allows less/)
  })

  describe('the keys of a tenant', () => {
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
})

describe('key set command', () => {
  const engine = useTestTable()
  let table: Table
  let key: string
  let id: string
  beforeEach(async () => {
    table = await engine.fresh()
    const { tenantId } = await openTenant(table)
    key = generateApiKey()
    id = await storeApiKey(table, { key, tenantId, models: null, name: 'web', ratePerMinute: 60 }, TESTER)
  })

  const set = (options: Readonly<Record<string, string>>, warn: (sentence: string) => void = () => undefined) =>
    runCommand(keySet, { table, local: true, warn, options: { key: id, ...options } })
  const callerOf = (given: string) => findCaller(table, sha256Hex(given), Date.now() / 1000)

  describe('key set', () => {
    it('changes what it names and leaves the rest, by the id or the name of the key', async () => {
      const { json } = await set({ key: 'web', models: 'chat-default, famB-1.1-t2v', expires: '2099-01-31' })
      expect(json).toMatchObject({
        ...{ id, name: 'web', models: ['chat-default', 'famB-1.1-t2v'], rate_per_minute: 60 },
        expires_at: '2099-01-31T00:00:00.000Z',
      })
      expect(await callerOf(key)).toMatchObject({ models: ['chat-default', 'famB-1.1-t2v'], ratePerMinute: 60 })
    })

    it('removes the name and the limits by their words', async () => {
      await set({ models: 'chat-default', expires: '90d' })
      const { json, text } = await set({ name: '', models: 'all', rate: 'none', expires: 'none' })
      expect(json).toMatchObject({ name: null, models: null, rate_per_minute: null, expires_at: null })
      expect(text).toMatch(/models +all/)
    })

    it('says when nothing was changed', async () => {
      const warnings: string[] = []
      await set({ name: 'web', rate: '60', models: 'all' }, (sentence) => warnings.push(sentence))
      expect(warnings).toEqual([`key ${id} has these settings already: nothing was changed`])
    })

    it('is kept by a rotation: name, models, rate and lifetime', async () => {
      await set({ name: 'shop', models: 'chat-default', rate: '5' })
      const rotated = Object((await runCommand(keyRotate, { table, options: { key: 'shop' } })).json)
      expect(rotated).toMatchObject({ name: 'shop', models: ['chat-default'], rate_per_minute: 5, replaces: id })
      expect(await callerOf(rotated.key)).toMatchObject({ models: ['chat-default'], ratePerMinute: 5 })
    })

    it('gives a key a budget, and takes it away', async () => {
      expect((await set({ budget: '5/month' })).json).toMatchObject({ name: 'web', budget: { amount: '5' } })
      expect(await callerOf(key)).toMatchObject({ budget: { id, kind: 'month' }, revision: 1 })
      expect((await set({ budget: 'none' })).json).toMatchObject({ name: 'web', budget: null })
      expect((await callerOf(key))?.budget).toBeUndefined()
    })

    it('of a revoked key is refused', async () => {
      await runCommand(keyRevoke, { table, options: { key: id } })
      await expect(set({ name: 'shop' })).rejects.toThrow('the key is revoked, which is final')
    })

    it.each([
      [{}, 'nothing to change: use --name, --models, --rate, --expires, --budget'],
      [{ rate: '0' }, '--rate 0: use a whole number from 1'],
      [{ expires: '2020-01-01' }, '--expires 2020-01-01: use a time in the future'],
      [{ name: 'a\nb' }, '--name contains a control character'],
      [{ key: 'nobody', name: 'x' }, 'no key nobody'],
    ])('refuses %j', async (options, message) => {
      await expect(set(options)).rejects.toThrow(message)
    })
  })

  describe('a key with a budget', () => {
    it('is created, listed, and rotated with the same budget', async () => {
      const { tenantId: tenant } = await openTenant(table)
      const made = Object(
        (await runCommand(keyCreate, { table, local: true, options: { tenant, budget: '5/total' } })).json,
      )
      expect(made).toMatchObject({ budget: { amount: '5', period: 'total', spent: '0', resets_at: null } })
      const next = Object((await runCommand(keyRotate, { table, options: { key: made.id } })).json)
      expect(next).toMatchObject({ replaces: made.id, budget: { amount: '5' } })
      expect(await callerOf(next.key)).toMatchObject({ budget: { id: made.id, kind: 'total' } })
      const { keys } = Object((await runCommand(keyList, { table, options: { tenant } })).json)
      expect(keys).toEqual(
        expect.arrayContaining(
          [made.id, next.id].map((listed) =>
            expect.objectContaining({ id: listed, budget: expect.objectContaining({ left: '5' }) }),
          ),
        ),
      )
    })

    it('that is gone from the table is shown as missing', async () => {
      await set({ budget: '5/month' })
      await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget(id) } } })
      const { json, text } = await runCommand(keyShow, { table, options: { key: id } })
      expect(json).toMatchObject({ budget: null, budget_missing: true })
      expect(text).toMatch(/60\/min +missing/)
      expect((await runCommand(keyList, { table, options: {} })).text).toMatch(/60\/min +missing/)
    })
  })
})

describe('key rotate: a rotated key', () => {
  const engine = useTestTable()
  let table: Table
  let tenant: string
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = (await openTenant(table)).tenantId
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

  it('has a successor with its name, models, rate and lifetime, and works on for the overlap alone', async () => {
    const old = await create({ name: 'shop', models: 'a', rate: '7', expires: '90d' })
    const made = await rotate(old.id, { overlap: '1h' })
    expect(made).toMatchObject({ tenant, models: ['a'], name: 'shop', rate_per_minute: 7, replaces: old.id })
    expect(Math.abs(Date.parse(made.expires_at) - Date.now() - 90 * DAY)).toBeLessThan(60_000)
    expect(await callerOf(old.key, 3_500_000)).toBeDefined()
    expect(await callerOf(old.key, 3_700_000)).toBeUndefined()
    expect(await callerOf(made.key, 3_700_000)).toMatchObject({ tenantId: tenant, ratePerMinute: 7 })
    expect((await row(old.id)).expires_at).toBe(made.old_expires_at)
  })

  it.each([
    ['1h', /\nKey \w+ works until \d{4}-.+Z\.$/],
    ['0s', /\nKey \w+ has ended\.$/],
  ])('with an overlap of %s is told with its end, or that it has ended', async (overlap, sentence) => {
    const { id: key } = await create()
    expect((await runCommand(keyRotate, { table, options: { key, overlap } })).text).toMatch(sentence)
  })

  it('that never ended has a successor that never ends, or ends when told so', async () => {
    const first = await rotate((await create()).id)
    expect(first.expires_at).toBeUndefined()
    expect(Math.abs(Date.parse(first.old_expires_at) - Date.now() - DAY)).toBeLessThan(60_000)
    const second = await rotate(first.id, { expires: '2099-01-01' })
    expect(second.expires_at).toBe('2099-01-01T00:00:00.000Z')
  })

  it('is not rotated again unasked, and its end is never put off', async () => {
    const old = await create()
    const { old_expires_at } = await rotate(old.id, { overlap: '1h' })
    const confirm = () => Promise.reject(new Error('asked'))
    await expect(runCommand(keyRotate, { table, confirm, options: { key: old.id } })).rejects.toThrow('asked')
    expect(await list({ tenant })).toHaveLength(3)
    const again = await rotate(old.id, { overlap: '7d' })
    expect(again.old_expires_at).toBe(old_expires_at)
    expect(again.expires_at).toBeUndefined()
  })

  it('has a second successor with the lifetime that it had before the first', async () => {
    const old = await create({ expires: '90d' })
    await rotate(old.id, { overlap: '1h' })
    const { expires_at } = await rotate(old.id)
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 90 * DAY)).toBeLessThan(60_000)
  })

  it('that ends within the overlap anyway ends no later, and nobody is asked', async () => {
    const old = await create({ expires: '2h' })
    const confirm = () => Promise.reject(new Error('asked'))
    const made = await runCommand(keyRotate, { table, confirm, options: { key: old.id, overlap: '24h' } })
    expect(made.json).toMatchObject({ old_expires_at: old.expires_at })
  })

  it('that is revoked or unknown is refused', async () => {
    const old = await create()
    await runCommand(keyRevoke, { table, options: { key: old.id } })
    await expect(rotate(old.id)).rejects.toThrow(`key ${old.id} is revoked: it cannot be used any more`)
    await expect(rotate('nothing')).rejects.toThrow('no key nothing')
    expect(await list({ tenant })).toHaveLength(2)
  })
})

describe('findKey', () => {
  const engine = useTestTable()
  let table: Table
  beforeAll(async () => {
    table = engine.table
    await store('k-1', 'web')
    await store('k-2', 'twin')
    await store('k-3', 'twin')
    await store('k-4', 'old')
    await store('k-5', 'old')
    await revokeApiKey(table, 'k-4', TESTER)
    await store('k-6', 'k-1')
    await store('k-7', 'gone')
    await revokeApiKey(table, 'k-7', TESTER)
  })

  const store = (keyId: string, name: string) =>
    putApiKey(
      table,
      { keyId, name, tenantId: 'acme', models: null, createdAt: 1, digest: `digest-of-${keyId}` },
      TESTER,
    )

  it.each([
    ['k-2', 'k-2'],
    ['web', 'k-1'],
    ['k-1', 'k-1'],
    ['old', 'k-5'],
    ['gone', 'k-7'],
  ])('%s means the key %s: an id before a name, a key in use before a revoked one', async (text, keyId) => {
    expect(await findKey(table, text)).toMatchObject({ keyId })
  })

  it('an id needs one read, however many keys there are', async () => {
    const queryPage = () => Promise.reject(new Error('all keys are read'))
    expect(await findKey({ ...table, queryPage }, 'k-2')).toMatchObject({ keyId: 'k-2', name: 'twin' })
  })

  it('a name of several keys in use is refused with their ids', async () => {
    await expect(findKey(table, 'twin')).rejects.toThrow(
      '--key twin: 2 keys have this name; use the id: k-2 of tenant acme, k-3 of tenant acme',
    )
  })

  it('a word that no key has is refused', async () => {
    await expect(findKey(table, 'x'.repeat(1025))).rejects.toMatchObject({ code: 'not_found' })
    await expect(findKey(table, 'nobody')).rejects.toThrow(/^no key nobody$/)
    await expect(findKey(table, 'twim')).rejects.toThrow('no key twim; did you mean twin?')
  })
})

describe('read-key-limits', () => {
  it('read models, a rate, none and an expiry in whole seconds', () => {
    expect(readModels('a, b,,')).toEqual(['a', 'b'])
    expect([readRate('60'), readRate('none')]).toEqual([60, null])
    expect(Math.abs(readExpiry('1d') - Date.now() - 86_400_000)).toBeLessThan(60_000)
    expect(readExpiry('1d') % 1000).toBe(0)
  })

  it.each([
    [() => readModels(' , '), '--models is empty'],
    [() => readRate('60001'), '--rate 60001: use a whole number from 1 to 60000, or none'],
    [() => readRate('fast'), '--rate fast: use a whole number'],
    [() => readExpiry('2020-01-01'), '--expires 2020-01-01: use a time in the future'],
  ])('refuse what is none: %#', (read, message) => {
    expect(read).toThrow(message)
  })
})

describe('unknownModels', () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-models-'))
  beforeAll(() => writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(testCatalogue().config)))
  afterAll(() => rmSync(dataDirectory, { recursive: true }))

  const context = { local: true, stage: 'dev', dataDirectory, output: async () => 'http://x' }
  const find = (models: string[] | null, directory = dataDirectory) =>
    unknownModels({ ...context, dataDirectory: directory }, models)

  it('names each model that the deployed configuration does not have, with the nearest that it has', async () => {
    expect(await find(['famA-2', 'famB-1.0-t2w', 'something-else'])).toEqual([
      'the configuration has no model famB-1.0-t2w; did you mean famB-1.0-t2v?',
      'the configuration has no model something-else',
    ])
  })

  it.each([
    ['every model is allowed', null, dataDirectory],
    ['the configuration cannot be read', ['anything'], join(dataDirectory, 'nowhere')],
  ])('is empty where %s', async (_, models, directory) => {
    expect(await find(models, directory)).toEqual([])
  })
})
