import { beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { findCaller } from '#store/callers.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { keyCreate, keyList, keyRevoke, keyRotate, keySet } from '../../../lib/cli/admin/keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

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
})
