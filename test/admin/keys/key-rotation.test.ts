import { beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { findCaller } from '#store/callers.ts'
import type { Table } from '#store/table/table.ts'
import { keyCreate, keyList, keyRevoke, keyRotate } from '../../../lib/cli/admin/keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

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

describe('key-rotation: a rotated key', () => {
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
