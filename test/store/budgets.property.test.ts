import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { v7 as uuidv7 } from 'uuid'
import { type Budget, budgetAt, parseBudgetLimit } from '#core/budgets.ts'
import { parseCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { TenantBudgets } from '#store/budget-moves.ts'
import { readKeyBudget, readTenantBudget } from '#store/budgets.ts'
import { findCaller } from '#store/callers.ts'
import { type NewVideoJob, reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { generateApiKey, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { newJob, openTenant, settleJob, TESTER, type TestTenant } from '../engines/video-jobs.ts'
import { outcome, settle, startRelayTable } from './relay-ledger/relaying-tenant.ts'

captureTelemetry()
/** Five minutes before the end of a day and of a month: a transaction that is under way then is not older at its end. */
const FIVE_MINUTES = 300_000
const DAY = 86_400_000
const START = Date.UTC(2026, 11, 1) - FIVE_MINUTES
/** What each request and each job reserves. */
const EACH = parseCredits('0.7')
/** Clocks of the processes, against the clock of the history. */
const SKEWS = [0, -2_000, 1_500]

const engine = useOpened(startRelayTable)

type History = { readonly table: TableWithClient; readonly tenant: TestTenant; now: number }
type Key = { readonly keyDigest: string; readonly keyId: string }

/** One process of the gateway. */
function openProcess(history: History, skew: number) {
  const { table, tenant } = history
  const nowMilliseconds = () => history.now + skew
  const pause = async () => {
    await new Promise(setImmediate)
  }
  const ledger = new RelayLedger(table, { clock: { nowMilliseconds, pause } })
  const tenantBudgets = new TenantBudgets()
  const requests: RelayReservation[] = []
  const jobs: NewVideoJob[] = []
  const read = async ({ keyDigest, keyId }: Key) => {
    const caller = await findCaller(table, keyDigest, nowMilliseconds() / 1000)
    return { keyDigest, keyId, keyRevision: caller?.revision, budget: caller?.budget }
  }
  return {
    relay: async (key: Key) => {
      const of = { tenantId: tenant.tenantId, requestId: uuidv7(), model: 'chat-default' }
      const rest = { operation: 'create-chat-completion', amount: EACH, reservedAt: nowMilliseconds() }
      const reservation = { ...of, ...rest, ...(await read(key)) }
      await ledger.reserve(reservation)
      requests.push(reservation)
    },
    create: async (key: Key) => {
      const job = newJob(tenant, { ...(await read(key)), createdAt: Math.trunc(nowMilliseconds() / 1000) })
      await reserveQuota(table, job, { tenantBudgets })
      jobs.push(job)
    },
    settle: async () => {
      const [request, job] = [requests.shift(), jobs.shift()]
      await Promise.all([
        request && ledger.resolve(request, settle('0.3')),
        job && settleJob(table, job, '0.5', nowMilliseconds()),
      ])
    },
    settleRequests: () => Promise.all(requests.splice(0).map((request) => ledger.resolve(request, settle('0.1')))),
  }
}

/** A key with a budget, or the successor of another key. */
async function newKey({ table, tenant }: History, replaced?: Key): Promise<Key> {
  const key = generateApiKey()
  const old = replaced && (await getApiKey(table, replaced.keyId)).listing
  const own =
    old === undefined
      ? { budgetLimit: parseBudgetLimit('3/day') }
      : {
          ...(old.budget === null ? {} : { budget: old.budget }),
          replaces: { keyId: old.keyId, expiresAt: old.expiresAt, revision: old.revision, endsAt: START + 1e9 },
        }
  const keyId = await storeApiKey(table, { key, tenantId: tenant.tenantId, models: null, ...own }, TESTER)
  return { keyDigest: sha256Hex(key), keyId }
}

/** Both budgets as they count at a time; undefined for none. */
async function budgetsOf({ table, tenant }: History, { keyId }: Key, now: number): Promise<(Budget | undefined)[]> {
  const { budget } = (await getApiKey(table, keyId)).listing
  const item = budget === null ? undefined : await table.readItem(tableKeys.keyBudget(budget.id))
  const balance = await table.readItem(tableKeys.balance(tenant.tenantId))
  const stored = [item && readKeyBudget(item), balance && readTenantBudget(balance)]
  return stored.map((each) => each && budgetAt(each, now))
}

const LIMITS = ['3/day', '5/day', '4/month', '2/month', '6/total'] as const
const event = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('relay', 'create'), process: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('settle'), process: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('setKey', 'setTenant'), process: fc.nat(4) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('clear', 'rotate', 'nextPeriod', 'nextPeriod'), process: fc.nat(2) }),
  },
)
type Event = { readonly kind: string; readonly process: number }

/** At most one period ends in a batch: no transaction is under way for a whole day. */
function withOneEnd(batch: readonly Event[]): readonly Event[] {
  const end = batch.findIndex(({ kind }) => kind === 'nextPeriod')
  return batch.filter(({ kind }, index) => kind !== 'nextPeriod' || index === end)
}

/** A history of one tenant. Each batch happens at once. */
async function play(batches: readonly (readonly Event[])[]): Promise<void> {
  const { table } = await engine.fresh()
  const history: History = { table, tenant: await openTenant(table, '1000'), now: START }
  const { tenantId } = history.tenant
  const clock = { nowMilliseconds: () => history.now }
  const processes = SKEWS.map((skew) => openProcess(history, skew))
  let key = await newKey(history)
  const run = async ({ kind, process: index }: Event): Promise<void> => {
    const [process, text] = [processes[index % SKEWS.length], LIMITS[index] ?? '3/day']
    const limit = kind === 'clear' ? null : parseBudgetLimit(text)
    if (kind === 'relay' || kind === 'create') {
      await process?.[kind](key)
    } else if (kind === 'settle') {
      await process?.settle()
    } else if (kind === 'setTenant' || kind === 'clear') {
      await changeTenant(table, { tenantId, settings: { budget: limit }, actor: TESTER, clock })
    } else if (kind === 'setKey') {
      const settings = { budget: planKeyBudget(table, limit, clock) }
      await setApiKey(table, { keyId: key.keyId, settings, actor: TESTER })
    } else if (kind === 'rotate') {
      key = await newKey(history, key)
    } else {
      const isBeforeEnd = (history.now + FIVE_MINUTES) % DAY === 0
      history.now += isBeforeEnd ? FIVE_MINUTES : DAY - FIVE_MINUTES
    }
  }
  for (const batch of batches) {
    const [only, ...others] = batch
    const { now } = history
    const ownNow = now + (SKEWS[only?.process ?? 0] ?? 0)
    const before = await budgetsOf(history, key, others.length === 0 ? ownNow : now)
    const outcomes = await Promise.all(batch.map((each) => outcome(run(each))))
    expect(['done', 'BudgetExceededError', 'InvalidApiKeyError', 'StoreRefusal']).toEqual(
      expect.arrayContaining(outcomes),
    )
    const after = await budgetsOf(history, key, now)
    if (others.length === 0 && (only?.kind === 'relay' || only?.kind === 'create')) {
      const hasRoom = before.every((budget) => budget === undefined || budget.left >= EACH)
      expect(outcomes).toEqual([hasRoom ? 'done' : 'BudgetExceededError'])
    }
    const changes = new Set(batch.map(({ kind }) => kind))
    if (!['setKey', 'setTenant', 'nextPeriod', 'rotate'].some((kind) => changes.has(kind))) {
      // What was below zero since the amount was lowered may come back, and goes no further.
      for (const [index, budget] of after.entries()) {
        const floor = before[index]?.left ?? 0n
        expect(budget === undefined || budget.left >= (floor < 0n ? floor : 0n)).toBe(true)
      }
    }
    expect(await verifyLedger(table, tenantId)).toEqual([])
  }
  await Promise.all(processes.map((process) => process.settleRequests()))
  expect(await verifyLedger(table, tenantId)).toEqual([])
}

describe('any history of chats, videos, changes of budgets, rotations and ends of periods', () => {
  it('keeps every budget, refuses only without room, and leaves every sum true', async () => {
    const batch = fc.array(event, { minLength: 1, maxLength: 5 }).map(withOneEnd)
    const batches = fc.array(batch, { minLength: 3, maxLength: 10 })
    await fc.assert(fc.asyncProperty(batches, play), { numRuns: 15 })
  })
})
