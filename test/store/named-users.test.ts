import { beforeAll, describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { namedUser, USERS_PER_DAY_MAX } from '#core/named-users.ts'
import { dayOf } from '#core/pricing/usage.ts'
import { NamedUsers } from '#store/named-users.ts'
import { change } from '#store/table/expressions.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { tableWithClient } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { stirConflicts } from '../faults/faulty-table.ts'

describe('namedUser', () => {
  it.each([
    ['the header before the body', 'header', { user: 'body' }, 'header'],
    ['`user` of a chat', undefined, { user: 'body' }, 'body'],
    ['`metadata.user_id` of messages', undefined, { metadata: { user_id: 'theirs' } }, 'theirs'],
    ['nobody for a blank name', ' ', { user: '' }, undefined],
    ['nobody for a name that is no string', undefined, { user: 7, metadata: [] }, undefined],
    ['nobody in another body', undefined, ['user'], undefined],
  ])('is %s', (_, header, body, expected) => {
    expect(namedUser(header, body)).toBe(expected)
  })
})

describe('NamedUsers', () => {
  const engine = useTestTable()
  const { table } = engine
  const keep = (users: 'digest' | 'given' | 'off') =>
    changeTenant(table, { tenantId: 'acme', settings: { users }, actor: TESTER })
  beforeAll(async () => {
    await makeTenant(table, { id: 'acme', name: 'Acme', credits: parseCredits('10') }, TESTER)
  })

  it('counts nobody of a tenant that has not switched it on', async () => {
    expect(await new NamedUsers(table).counted('acme', 'ada')).toBeUndefined()
    expect(await new NamedUsers(table).counted('nobody', 'ada')).toBeUndefined()
  })

  it('counts a user under the same digest in every process, also after it was off, and never by name', async () => {
    await keep('digest')
    const first = await new NamedUsers(table).counted('acme', 'ada')
    expect(first).toMatch(/^u_[0-9a-f]{24}$/)
    await keep('off')
    await keep('digest')
    expect(await new NamedUsers(table).counted('acme', 'ada')).toBe(first)
    expect(await new NamedUsers(table).counted('acme', 'eve')).not.toBe(first)
  })

  it('counts a user by name where the tenant says so, and a long name or `others` by digest', async () => {
    await keep('given')
    const users = new NamedUsers(table)
    expect(await users.counted('acme', 'ada#1@example.com')).toBe('ada#1@example.com')
    expect(await users.counted('acme', 'a'.repeat(65))).toMatch(/^u_/)
    expect(await users.counted('acme', 'others')).toMatch(/^u_/)
  })

  it('counts users above the most of a day together, and those before by themselves', async () => {
    await keep('given')
    const now = Date.parse('2026-11-20')
    const users = new NamedUsers(table, { nowMilliseconds: () => now })
    expect(await users.counted('acme', 'early')).toBe('early')
    const full = { set: { marked: USERS_PER_DAY_MAX } }
    await table.updateItem(change(tableKeys.namedUser('acme', dayOf(now)), full, ['attribute_exists(PK)']))
    expect(await users.counted('acme', 'late')).toBe('others')
    const other = new NamedUsers(table, { nowMilliseconds: () => now })
    expect(await other.counted('acme', 'early')).toBe('early')
  })

  it('refuses no request while many new users meet at the count of their day', async () => {
    await keep('given')
    const crowded = tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })
    let conflicts = 0
    stirConflicts(crowded, () => {
      conflicts += 1
      return conflicts <= 20
    })
    expect(await new NamedUsers(crowded).counted('acme', 'met')).toBe('met')
  })

  it('reads nothing again within a minute for a user that it knows', async () => {
    await keep('given')
    let reads = 0
    const counting = {
      transact: table.transact.bind(table),
      readItem: (...key: Parameters<typeof table.readItem>) => {
        reads += 1
        return table.readItem(...key)
      },
    }
    const users = new NamedUsers(counting)
    await users.counted('acme', 'known')
    const before = reads
    await users.counted('acme', 'known')
    expect(reads).toBe(before)
  })
})
