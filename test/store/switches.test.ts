import { beforeEach, describe, expect, it } from '@jest/globals'
import { NO_SWITCHES, type SwitchChange } from '#core/catalogue/switches.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { changeSwitchesTogether, readSwitches } from '#store/switches.ts'
import { ConditionsNotMetError } from '#store/table/table.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'

describe('changeSwitchesTogether', () => {
  const engine = useTestTable()
  let table: TableWithClient
  beforeEach(async () => {
    table = await engine.fresh()
  })

  const ANNA = { actor: { name: 'anna', role: 'operator' }, at: 10_999 } as const
  const BY_ANNA = { by: 'anna', at: 10 }
  const disable = (id: string): SwitchChange => ({ kind: 'channel', id, action: 'disable' })

  it('stores a switch with who set it and when, and returns the switches before and after', async () => {
    const changed = await changeSwitchesTogether(table, [disable('main')], ANNA)
    const after = { channels: { main: { enabled: { value: false, ...BY_ANNA } } }, models: {} }
    expect(changed).toEqual({ before: NO_SWITCHES, after })
    expect(await readSwitches(table)).toEqual({ switches: after, version: 1 })
  })

  it('records who changed what in the audit log, once', async () => {
    await changeSwitchesTogether(table, [{ kind: 'channel', id: 'main', action: 'weight', value: 2 }], ANNA)
    await changeSwitchesTogether(table, [disable('main')], ANNA)
    await changeSwitchesTogether(table, [disable('main')], ANNA)
    await changeSwitchesTogether(table, [{ kind: 'model', id: 'chat', action: 'disable' }], ANNA)
    const { entries } = await readAudit(table, { limit: 10 })
    const told = entries.map(({ actor, action, kind, target, before, after }) => ({
      actor,
      action,
      kind,
      target,
      before,
      after,
    }))
    const channel = { actor: 'anna', kind: 'channel', target: 'main' }
    const nothing = { state: null, weight: null, priority: null }
    const byAction = (left: { action: string }, right: { action: string }) => left.action.localeCompare(right.action)
    expect(told.sort(byAction)).toEqual([
      {
        ...channel,
        action: 'channel disable',
        before: { ...nothing, weight: 2 },
        after: { ...nothing, weight: 2, state: 'disabled' },
      },
      { ...channel, action: 'channel weight', before: nothing, after: { ...nothing, weight: 2 } },
      {
        actor: 'anna',
        kind: 'model',
        target: 'chat',
        action: 'model disable',
        before: { state: null },
        after: { state: 'disabled' },
      },
    ])
  })

  it('writes nothing for a change that changes nothing', async () => {
    await changeSwitchesTogether(table, [disable('main')], ANNA)
    const { before, after } = await changeSwitchesTogether(table, [disable('main')], {
      actor: { name: 'ben', role: 'operator' },
      at: 20_000,
    })
    expect(after).toBe(before)
    expect(await readSwitches(table)).toMatchObject({
      switches: { channels: { main: { enabled: BY_ANNA } } },
      version: 1,
    })
  })

  it('loses nothing when many operators switch at once', async () => {
    const ids = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6']
    await Promise.all(ids.map((id) => changeSwitchesTogether(table, [disable(id)], ANNA)))
    const { switches, version } = await readSwitches(table)
    expect(Object.keys(switches.channels).sort()).toEqual(ids)
    expect(version).toBe(ids.length)
  })

  it('keeps both of two values that are set for one channel at once', async () => {
    const weight: SwitchChange = { kind: 'channel', id: 'main', action: 'weight', value: 2 }
    await Promise.all([
      changeSwitchesTogether(table, [disable('main')], ANNA),
      changeSwitchesTogether(table, [weight], ANNA),
    ])
    expect((await readSwitches(table)).switches.channels.main).toMatchObject({
      enabled: { value: false },
      weight: { value: 2 },
    })
  })

  it('gives up when other changes come first every time, and has changed nothing', async () => {
    const beaten = { readItem: table.readItem, transact: () => Promise.reject(new ConditionsNotMetError(['switches'])) }
    await expect(changeSwitchesTogether(beaten, [disable('main')], ANNA)).rejects.toMatchObject({
      code: 'changed_meanwhile',
    })
    expect(await readSwitches(table)).toEqual({ switches: NO_SWITCHES, version: 0 })
  })
})

const tableWith = (item: Record<string, unknown> | undefined) => ({ readItem: async () => item })
const set = <Value>(value: Value) => ({ value, by: 'operator', at: 1 })

describe('readSwitches', () => {
  it('finds none in version 0 where nobody has set one', async () => {
    expect(await readSwitches(tableWith(undefined))).toEqual({ switches: NO_SWITCHES, version: 0 })
  })

  it('ignores fields that a later version may add', async () => {
    const channels = { main: { weight: { ...set(2), why: 'later' }, colour: set('red') } }
    const item = { PK: 'SWITCHES', SK: '0', version: 3, channels, models: {}, regions: {} }
    expect(await readSwitches(tableWith(item))).toEqual({
      switches: { channels: { main: { weight: set(2) } }, models: {} },
      version: 3,
    })
  })

  it('rejects an item that this service did not write', async () => {
    await expect(readSwitches(tableWith({ version: 1, channels: { main: { weight: 'much' } } }))).rejects.toThrow()
  })
})
