import { v7 as uuidv7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { keyBudgetChangedAt, readKeyBudget } from '#adapters/store/accounts/budget-items.ts'
import { moveKeyBudget } from '#adapters/store/money/budget-writes.ts'
import {
  beginKeyBudget,
  changeKeyBudgetAmount,
  leaveKeyBudget,
  recountKeyBudget,
} from '#adapters/store/money/key-budget-updates.ts'
import type { TableWrite } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { parseBudgetLimit, periodAt } from '#core/budgets.ts'
import { parseCredits } from '#core/money.ts'
import { keyBudgetOf, storeKeyBudget } from '../../../engines/budgets.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()
let id: string
beforeEach(() => {
  id = uuidv7()
})

const NOW = Date.UTC(2026, 10, 22)
const DAY = periodAt('day', NOW)
const counted = (limit: string, [spent, held]: readonly [string, string]) => ({
  limit: parseBudgetLimit(limit),
  period: periodAt(parseBudgetLimit(limit).kind, NOW),
  spent: parseCredits(spent),
  held: parseCredits(held),
  changedAt: NOW,
})
const write = (change: TableWrite) => engine.table.transact({ change })
const stored = async () => (await engine.table.readItem(tableKeys.keyBudget(id))) ?? {}
/** A request of another process, which locks and settles. */
const move = () =>
  write(
    moveKeyBudget(id, { move: { locked: 0n, closed: 100_000n, billed: 50_000n }, known: DAY, nowMilliseconds: NOW }),
  )
const start = () => storeKeyBudget(engine.table, id, { credits: '5', spent: '1', kind: 'day', atMilliseconds: NOW })

describe('beginKeyBudget', () => {
  it('stores a budget with what was counted, and when, once', async () => {
    const begin = beginKeyBudget('acme', id, counted('5/day', ['1', '0.5']))
    await write(begin)
    expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '1', '0.5', '3.5', '4.5'])
    expect(keyBudgetChangedAt(await stored())).toBe(NOW)
    await expect(write(begin)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
  })
})

describe('changeKeyBudgetAmount', () => {
  it('is right whatever moved since it was planned', async () => {
    await start()
    const change = changeKeyBudgetAmount(id, { stored: readKeyBudget(await stored()), amount: parseCredits('2') })
    await move()
    await write(change)
    expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '1.05', '-0.1', '1.05', '2.1'])
    expect(keyBudgetChangedAt(await stored())).toBeUndefined()
  })
})

describe('recountKeyBudget', () => {
  it('corrects every amount by what differed when it was counted, whatever moved since', async () => {
    await start()
    const recount = recountKeyBudget(id, readKeyBudget(await stored()), counted('7/month', ['2', '0.5']))
    await move()
    await write(recount)
    expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11', '2.05', '0.4', '4.55', '6.6'])
    expect(keyBudgetChangedAt(await stored())).toBe(NOW)
  })

  it('is refused if another command changed the budget meanwhile', async () => {
    await start()
    const item = readKeyBudget(await stored())
    await write(changeKeyBudgetAmount(id, { stored: item, amount: parseCredits('2') }))
    const recount = recountKeyBudget(id, item, counted('5/day', ['2', '0']))
    await expect(write(recount)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
  })
})

describe('leaveKeyBudget', () => {
  it('notes the time, and makes no budget that is missing', async () => {
    await expect(write(leaveKeyBudget(id, NOW))).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    await start()
    await write(leaveKeyBudget(id, NOW))
    expect(keyBudgetChangedAt(await stored())).toBe(NOW)
    expect(await keyBudgetOf(engine.table, id)).toEqual(['2026-11-22', '1', '0', '4', '5'])
  })
})
