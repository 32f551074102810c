import { randomUUID } from 'node:crypto'
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  allowsMove,
  type Budget,
  type BudgetPeriod,
  budgetAt,
  isOutdated,
  type MoneyMove,
  neededOf,
  PERIOD_KINDS,
  type PeriodKind,
  periodAt,
} from '#core/budgets.ts'
import { type Microcredits, microcredits, parseCredits } from '#core/money.ts'
import { type BudgetMove, giveBack, giveBackToKey, moveKeyBudget, moveTenantBudget } from '#store/budget-moves.ts'
import { readKeyBudget, readTenantBudget } from '#store/budgets.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { ConditionsNotMetError, type TableWrite } from '#store/table/table.ts'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'
import { keyBudgetOf, storeKeyBudget, storeTenantBudget, tenantBudgetOf } from '../engines/budgets.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openRelayingTenant, type RelayingTenant } from './relay-ledger/relaying-tenant.ts'

describe('writes of budgets:', () => {
  const engine = useTestTable()

  const NOON = Date.UTC(2026, 10, 30, 12)
  const HOUR = 60 * 60 * 1000
  const AMOUNT = microcredits(2_000)

  /** The model: the budget after a move, whether it allows the move or not. */
  function moveBudget(budget: Budget, move: MoneyMove, nowMilliseconds: number): Budget {
    const { locked, closed, billed } = move
    const { spent, held, left, free, ...rest } = budgetAt(budget, nowMilliseconds)
    return {
      ...rest,
      spent: (spent + billed) as Microcredits,
      held: (held + locked - closed) as Microcredits,
      left: (left - neededOf(move)) as Microcredits,
      free: (free + closed - locked) as Microcredits,
    }
  }

  /** A budget in the table, of a key or on a balance. */
  type Stored = {
    readonly key: TableKey
    write(change: BudgetMove): TableWrite
    read(item: object): Budget | undefined
    /** Attributes that hold the amount, what is left and what is free. */
    readonly names: { readonly amount: string; readonly left: string; readonly free: string }
  }

  async function storeKeyBudget(kind: PeriodKind): Promise<Stored> {
    const budgetId = randomUUID()
    const key = tableKeys.keyBudget(budgetId)
    const period = periodAt(kind, NOON)
    const amounts = { amount: AMOUNT, spent: 0, held: 0, left: AMOUNT, free: AMOUNT }
    const Item = { ...key, ...amounts, period: period.kind, periodId: period.id }
    await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
    const names = { amount: 'amount', left: 'left', free: 'free' }
    return {
      key,
      names,
      write: (change) => moveKeyBudget(budgetId, change),
      read: (item) => readKeyBudget({ ...item }),
    }
  }

  async function storeTenantBudget(kind: PeriodKind): Promise<Stored> {
    const key = tableKeys.balance(randomUUID())
    const period = periodAt(kind, NOON)
    const amounts = { budgetAmount: AMOUNT, budgetSpent: 0, held: 0, budgetLeft: AMOUNT, budgetFree: AMOUNT }
    const Item = { ...key, ...amounts, budgetPeriod: period.kind, budgetPeriodId: period.id }
    await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
    const write = (change: BudgetMove): TableWrite => {
      const { set, condition, values } = moveTenantBudget(change)
      return {
        Update: {
          Key: key,
          UpdateExpression: `SET held = held + :held${set}`,
          ConditionExpression: condition,
          ExpressionAttributeValues: { ...values, ':held': change.move.locked - change.move.closed },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }
    }
    const names = { amount: 'budgetAmount', left: 'budgetLeft', free: 'budgetFree' }
    return { key, names, write, read: (item) => readTenantBudget({ ...item }) }
  }

  const amount = fc.bigInt({ min: 0n, max: 1_500n })
  type Event = {
    readonly process: number
    readonly hours: number
    readonly locked: bigint
    readonly closed: bigint
    readonly billed: bigint
    readonly isOverdraft: boolean
    readonly changed: bigint | undefined
  }
  const event: fc.Arbitrary<Event> = fc.record({
    process: fc.integer({ min: 0, max: 2 }),
    hours: fc.integer({ min: 0, max: 40 }),
    locked: amount,
    closed: amount,
    billed: amount,
    isOverdraft: fc.boolean(),
    changed: fc.option(fc.bigInt({ min: -900n, max: 900n }), { nil: undefined, freq: 8 }),
  })

  /** Clocks of the processes: each may be hours ahead of or behind the others. */
  const SKEWS = [0, 5 * HOUR, -7 * HOUR]

  /** One process writes a move, and corrects what it knows of the budget once. */
  async function send(
    stored: Stored,
    { move, known, now }: { move: MoneyMove; known: BudgetPeriod; now: number },
  ): Promise<{ readonly isWritten: boolean; readonly known: BudgetPeriod }> {
    try {
      await engine.table.transact({ budget: stored.write({ move, known, nowMilliseconds: now }) })
      return { isWritten: true, known }
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      const actual = stored.read(error.oldItems.get('budget') ?? {})?.period
      if (actual === undefined || !isOutdated(known, actual, now)) {
        return { isWritten: false, known }
      }
      return await send(stored, { move, known: actual, now })
    }
  }

  async function changeAmount({ key, names }: Stored, by: bigint): Promise<void> {
    const assignments = Object.keys(names).map((name) => `#${name} = #${name} + :by`)
    await engine.table.client.send(
      new UpdateCommand({
        TableName: engine.table.name,
        Key: key,
        UpdateExpression: `SET ${assignments.join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(Object.entries(names).map(([name, real]) => [`#${name}`, real])),
        ExpressionAttributeValues: { ':by': by },
      }),
    )
  }

  async function holdAgainstModel(stored: Stored, kind: PeriodKind, events: readonly Event[]): Promise<void> {
    const first = { amount: AMOUNT, spent: microcredits(0), held: microcredits(0), left: AMOUNT, free: AMOUNT }
    let model: Budget = { ...first, period: periodAt(kind, NOON) }
    const known = SKEWS.map(() => model.period)
    let now = NOON
    for (const { process, hours, locked, isOverdraft, changed, ...event } of events) {
      now += hours * HOUR
      const clock = now + (SKEWS[process] ?? 0)
      if (changed !== undefined && model.amount + changed >= 0n) {
        await changeAmount(stored, changed)
        const [total, left, free] = [model.amount, model.left, model.free].map((value) => microcredits(value + changed))
        model = { ...model, amount: total ?? AMOUNT, left: left ?? AMOUNT, free: free ?? AMOUNT }
      }
      const closed = event.closed < model.held ? event.closed : (model.held as bigint)
      const billed = isOverdraft || event.billed < closed ? event.billed : closed
      const move = { locked, closed, billed: closed === 0n ? 0n : billed }
      const isAllowed = allowsMove(model, move, clock)
      const sent = await send(stored, { move, known: known[process] ?? model.period, now: clock })
      known[process] = sent.known
      expect(sent.isWritten).toBe(isAllowed)
      model = isAllowed ? moveBudget(model, move, clock) : model
      const item = stored.read((await engine.table.readItem(stored.key)) ?? {})
      expect(item).toStrictEqual(model)
      expect(item?.left).toBe(model.amount - model.spent - model.held)
      expect(item?.free).toBe(model.amount - model.held)
      if (isAllowed && locked > 0n) {
        expect(model.spent + model.held <= model.amount).toBe(true)
      }
    }
  }

  const RUNS = { numRuns: 25 }
  const history = fc.tuple(fc.constantFrom(...PERIOD_KINDS), fc.array(event, { minLength: 1, maxLength: 20 }))

  describe('moveKeyBudget', () => {
    it('moves the item as the rules say, whichever clock and knowledge a process has', async () => {
      await fc.assert(
        fc.asyncProperty(history, async ([kind, events]) => {
          await holdAgainstModel(await storeKeyBudget(kind), kind, events)
        }),
        RUNS,
      )
    })

    it('never goes back to a period that a faster clock has ended', async () => {
      const stored = await storeKeyBudget('day')
      const known = periodAt('day', NOON)
      await send(stored, { move: { locked: 500n, closed: 0n, billed: 0n }, known, now: NOON + 12 * HOUR })
      await send(stored, { move: { locked: 600n, closed: 0n, billed: 0n }, known, now: NOON })
      expect(stored.read((await engine.table.readItem(stored.key)) ?? {})).toMatchObject({
        period: periodAt('day', NOON + 12 * HOUR),
        held: 1_100n,
        left: 900n,
      })
    })

    it('refuses to begin the period of another kind', async () => {
      const stored = await storeKeyBudget('month')
      const wrong = { known: periodAt('day', NOON - 24 * HOUR), nowMilliseconds: NOON }
      const written = engine.table.transact({
        budget: stored.write({ move: { locked: 1n, closed: 0n, billed: 0n }, ...wrong }),
      })
      await expect(written).rejects.toThrow(ConditionsNotMetError)
    })
  })

  describe('moveTenantBudget', () => {
    it('moves the fields of the balance as the rules say, whichever clock and knowledge a process has', async () => {
      await fc.assert(
        fc.asyncProperty(history, async ([kind, events]) => {
          await holdAgainstModel(await storeTenantBudget(kind), kind, events)
        }),
        RUNS,
      )
    })

    it('adds nothing but the proof that there is no budget, for a tenant without one', () => {
      const move = { locked: 1n, closed: 0n, billed: 0n }
      expect(moveTenantBudget({ move, known: undefined, nowMilliseconds: NOON })).toStrictEqual({
        set: '',
        condition: 'attribute_not_exists(budgetPeriodId)',
        values: {},
      })
    })
  })

  describe('readTenantBudget', () => {
    it('finds none on a balance without one', () => {
      expect(readTenantBudget({ available: 1, held: 0 })).toBeUndefined()
    })
  })
})

describe('returns of what was held:', () => {
  const EVE = Date.UTC(2026, 10, 30, 23, 59, 59)
  const DAY = { credits: '5', kind: 'day', atMilliseconds: EVE } as const
  const TWO = parseCredits('2')

  const engine = useTestTable()
  let table: TableWithClient
  let tenant: RelayingTenant
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openRelayingTenant(table, '10')
  })

  /** Two credits are held, in both budgets. */
  async function hold() {
    await storeTenantBudget(table, tenant.tenantId, DAY)
    const budget = await storeKeyBudget(table, 'b', DAY)
    const clock = { nowMilliseconds: () => EVE, pause: async () => undefined }
    await new RelayLedger(table, { clock }).reserve(tenant.request('2', { budget, reservedAt: EVE }))
  }

  describe('giveBack', () => {
    it('moves what was held back to what is available, in the budget too', async () => {
      await hold()
      const balance = await giveBack(table, { tenantId: tenant.tenantId, amount: TWO, nowMilliseconds: EVE })
      await table.transact({ balance })
      expect(await tenant.balance()).toEqual(['10', '0', '0'])
      expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-11-30', '0', '0', '5', '5'])
      await expect(table.transact({ balance })).rejects.toMatchObject({ failed: new Set(['balance']) })
    })

    it('begins the period of its time', async () => {
      await hold()
      const balance = await giveBack(table, { tenantId: tenant.tenantId, amount: TWO, nowMilliseconds: EVE + 1_000 })
      await table.transact({ balance })
      expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12-01', '0', '0', '5', '5'])
    })
  })

  describe('giveBackToKey', () => {
    it('gives the budget of a key back what was held', async () => {
      await hold()
      const budget = await giveBackToKey(table, 'b', { amount: TWO, nowMilliseconds: EVE + 1_000 })
      await table.transact({ budget })
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-12-01', '0', '0', '5', '5'])
    })

    it('has nothing to write for a budget that is gone', async () => {
      expect(await giveBackToKey(table, 'gone', { amount: TWO, nowMilliseconds: EVE })).toBeUndefined()
    })
  })
})
