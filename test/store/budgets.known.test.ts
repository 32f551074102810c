import { describe, expect, it } from '@jest/globals'
import type { Budget } from '#core/budgets.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { microcredits } from '#core/money.ts'
import { guessBudgets, type KnownBudgets, TenantBudgets, transactWithBudgets } from '#store/budget-moves.ts'
import { putKeyBudget, readKeyBudget, readTenantBudget } from '#store/budgets.ts'
import { ConditionsNotMetError, type Item, type NamedWrites, type Table } from '#store/table/table.ts'

const NOON = Date.UTC(2026, 10, 30, 12)
const TODAY = { kind: 'day', id: '2026-11-30' } as const
const AMOUNTS = { amount: 1, spent: 0, held: 0, left: 1, free: 1 }
const ofKey = (periodId: string, period = 'day') => ({ ...AMOUNTS, period, periodId })
const ofTenant = (budgetPeriodId: string) => ({
  held: 0,
  budgetAmount: 1,
  budgetPeriod: 'day',
  budgetPeriodId,
  budgetSpent: 0,
  budgetLeft: 1,
  budgetFree: 1,
})

const refusal = (oldItems: Readonly<Record<string, Item>>, failed = Object.keys(oldItems)) =>
  new ConditionsNotMetError(failed, { oldItems: new Map(Object.entries(oldItems)) })

/** Sends a transaction to a table that refuses it with these errors, one after the other. */
async function send(
  refusals: readonly Error[],
  { known, needsKeyBudget = true }: { known: KnownBudgets; needsKeyBudget?: boolean },
) {
  const left = [...refusals]
  const seen: KnownBudgets[] = []
  const transact = async (_: NamedWrites) => {
    const error = left.shift()
    if (error !== undefined) {
      throw error
    }
  }
  const result = await transactWithBudgets({ transact } as Table, {
    known,
    nowMilliseconds: NOON,
    compose: (current) => {
      seen.push(current)
      return {}
    },
    isFinal: (name) => name === 'key',
    needsKeyBudget,
  }).catch((error) => error)
  return { result, seen }
}

const KNOWN: KnownBudgets = { key: { id: 'k1', period: TODAY }, tenant: TODAY }

describe('guessBudgets', () => {
  it('guesses the period of now for each budget that was noted', () => {
    expect(guessBudgets({ key: { id: 'k1', kind: 'month' }, tenantKind: 'day' }, NOON)).toEqual({
      key: { id: 'k1', period: { kind: 'month', id: '2026-11' } },
      tenant: TODAY,
    })
  })

  it('guesses no budget where none was noted', () => {
    expect(guessBudgets({ key: undefined, tenantKind: undefined }, NOON)).toEqual({ key: undefined, tenant: undefined })
  })
})

describe('transactWithBudgets', () => {
  it('sends a transaction once if the guess is right', async () => {
    expect(await send([], { known: KNOWN })).toEqual({ result: KNOWN, seen: [KNOWN] })
  })

  it('corrects both budgets by the items that refused', async () => {
    const yesterday = { kind: 'day', id: '2026-11-29' }
    const { result, seen } = await send(
      [refusal({ keyBudget: ofKey('2026-11-29'), balance: ofTenant('2026-11-29') })],
      { known: KNOWN },
    )
    expect(result).toEqual({ key: { id: 'k1', period: yesterday }, tenant: yesterday })
    expect(seen).toHaveLength(2)
  })

  it.each([
    ['set', { ...KNOWN, tenant: undefined }, ofTenant('2026-11-30'), TODAY],
    ['cleared', KNOWN, { held: 0 }, undefined],
  ])('corrects the budget of a tenant that was %s', async (_, known, balance, tenant) => {
    expect((await send([refusal({ balance })], { known })).result).toEqual({ key: KNOWN.key, tenant })
  })

  it('gives a refusal back that is not due to the budgets', async () => {
    const error = refusal({ keyBudget: ofKey('2026-11-30'), balance: ofTenant('2026-11-30') })
    expect(await send([error], { known: KNOWN })).toEqual({ result: error, seen: [KNOWN] })
  })

  it('gives a refusal back at once that stands whatever the budgets are', async () => {
    const error = refusal({ balance: ofTenant('2026-11-29') }, ['key', 'balance'])
    expect((await send([error], { known: KNOWN })).result).toBe(error)
  })

  it('goes on without the budget of a key that is gone, unless it is needed', async () => {
    const error = refusal({}, ['keyBudget'])
    const free = await send([error], { known: KNOWN, needsKeyBudget: false })
    expect(free.result).toEqual({ key: undefined, tenant: TODAY })
    expect((await send([error], { known: KNOWN })).result).toBe(error)
  })

  it('gives up when budgets keep changing', async () => {
    const changes = Array.from({ length: 9 }, (_, index) =>
      refusal({ keyBudget: index % 2 === 0 ? ofKey('total', 'total') : ofKey('2026-11', 'month') }),
    )
    const { result, seen } = await send(changes, { known: KNOWN })
    expect(result).toBeInstanceOf(ServiceUnavailableError)
    expect(seen.length).toBeLessThan(9)
  })

  it('gives any other error back', async () => {
    const error = new Error('out of order')
    expect((await send([error], { known: KNOWN })).result).toBe(error)
  })
})

describe('TenantBudgets', () => {
  it('remembers what was proved last', () => {
    const memory = new TenantBudgets()
    memory.learn('acme', KNOWN)
    expect(memory.kindOf('acme')).toBe('day')
    memory.learn('acme', { ...KNOWN, tenant: undefined })
    expect(memory.kindOf('acme')).toBeUndefined()
  })
})

const BUDGET: Budget = {
  amount: microcredits(100),
  period: { kind: 'day', id: '2026-11-30' },
  spent: microcredits(30),
  held: microcredits(20),
  left: microcredits(50),
  free: microcredits(80),
}

describe('putKeyBudget', () => {
  const { Put } = putKeyBudget('acme', 'k1', BUDGET) as { Put: { Item: Record<string, unknown> } }

  it('writes what readKeyBudget reads', () => {
    expect(readKeyBudget(Put.Item)).toStrictEqual(BUDGET)
  })

  it('names the tenant, and stands in the index of what alerts watch', () => {
    expect(Put.Item).toMatchObject({ PK: 'BUDGET#k1', tenantId: 'acme', GSI1PK: 'BUDGETS', GSI1SK: 'k1' })
  })

  it('is refused if there is a budget with this id', () => {
    expect(Put).toMatchObject({ ConditionExpression: 'attribute_not_exists(PK)' })
  })
})

describe('readTenantBudget', () => {
  it('finds none on a balance without one', () => {
    expect(readTenantBudget({ available: 1, held: 0 })).toBeUndefined()
  })

  it('takes what is held from the balance', () => {
    const stored = { budgetAmount: 100, budgetPeriod: 'day', budgetPeriodId: '2026-11-30' }
    expect(readTenantBudget({ held: 20, ...stored, budgetSpent: 30, budgetLeft: 50, budgetFree: 80 })).toStrictEqual(
      BUDGET,
    )
  })
})
