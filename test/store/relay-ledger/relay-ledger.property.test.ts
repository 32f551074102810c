import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Budget } from '#core/budgets.ts'
import { microcredits } from '#core/money.ts'
import { readKeyBudget, readTenantBudget } from '#store/budgets.ts'
import type { BudgetOfKey } from '#store/callers.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { readHoldItem } from '#store/relay-ledger/hold.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { releaseHold } from '#store/relay-ledger/release-hold.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { streamUsageCounters } from '#store/usage.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import { storeKeyBudget, storeTenantBudget } from '../../engines/budgets.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import { seededRandom } from '../../engines/seeded-random.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { openRelayingTenant, outcome, type RelayingTenant, startRelayTable } from './relaying-tenant.ts'

captureTelemetry()
const engine = useOpened(startRelayTable)
let table: TableWithClient
let lean: Table
beforeAll(async () => {
  ;({ table, lean } = await engine.fresh())
})

/**
 * What may happen to a tenant's money. `request` picks one of those so far, reserved or not, and its process resolves it unless
 * another one tries. `reconcile` releases every hold, as if its process had not renewed it; `crash` ends a process.
 */
type Event =
  | { readonly kind: 'reserve'; readonly amount: number; readonly process: number; readonly key: number }
  | { readonly kind: 'settle'; readonly request: number; readonly actual: number; readonly byOther: boolean }
  | { readonly kind: 'release'; readonly request: number; readonly byOther: boolean }
  | { readonly kind: 'reconcile' }
  | { readonly kind: 'crash'; readonly process: number }
  | { readonly kind: 'revoke'; readonly key: number }
  | { readonly kind: 'activate'; readonly key: number }

const amount = fc.integer({ min: 0, max: 2_000_000 })
const request = fc.integer({ min: 0, max: 15 })
const process = fc.integer({ min: 0, max: 1 })
const byOther = fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })
const key = fc.integer({ min: 0, max: 1 })
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('reserve' as const), amount, process, key }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), request, actual: amount, byOther }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), request, byOther }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reconcile' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('activate' as const), key }) },
)

/** Errors that tell a client or a log what happened; anything else would be a fault of ours. */
const EXPECTED =
  /^(InvalidApiKeyError|InsufficientQuotaError|BudgetExceededError|ServiceUnavailableError|ConditionsNotMetError)$/

type Key = { readonly keyDigest: string; readonly keyId: string; readonly budget?: BudgetOfKey }

/** One history of one tenant, written by two processes. */
class History {
  readonly #tenant: RelayingTenant
  readonly #keys: readonly Key[]
  readonly #ledgers = [openLedger(), openLedger()]
  readonly #requests: { readonly reservation: RelayReservation; readonly ledger: RelayLedger }[] = []
  readonly resolved = new Map<string, number>()

  constructor(tenant: RelayingTenant, keys: readonly Key[]) {
    this.#tenant = tenant
    this.#keys = keys
  }

  async apply(step: Event): Promise<void> {
    switch (step.kind) {
      case 'reserve': {
        const reservation = this.#tenant.request('0', { ...this.#keys[step.key], amount: microcredits(step.amount) })
        const ledger = this.#ledgers[step.process] ?? openLedger()
        this.#requests.push({ reservation, ledger })
        return await ledger.reserve(reservation)
      }
      case 'settle':
        return await this.#resolve(step, { kind: 'settle', actual: microcredits(step.actual), estimated: false })
      case 'release':
        return await this.#resolve(step, { kind: 'release' })
      case 'reconcile':
        return await this.#releaseHolds()
      case 'crash':
        this.#ledgers[step.process] = openLedger()
        return
      case 'revoke':
        return await revokeApiKey(table, this.#keys[step.key]?.keyId ?? '', TESTER)
      case 'activate':
        return await activate(this.#tenant, this.#keys[step.key])
      default:
        step satisfies never
    }
  }

  async #resolve({ request, byOther }: { request: number; byOther: boolean }, resolution: RelayResolution) {
    const { reservation, ledger } = this.#requests[request] ?? {}
    const resolver = byOther ? this.#ledgers.find((each) => each !== ledger) : ledger
    if (reservation !== undefined && (await resolver?.resolve(reservation, resolution)) === 'resolved') {
      this.resolved.set(reservation.requestId, (this.resolved.get(reservation.requestId) ?? 0) + 1)
    }
  }

  /** Ends everything that the living processes have open, once the table works again. */
  async end(): Promise<void> {
    for (const ledger of this.#ledgers) {
      // The next group finds out what is in doubt, even if it is refused.
      const last = this.#tenant.request('0')
      await outcome(ledger.reserve(last))
      const own = this.#requests.filter((each) => each.ledger === ledger).map(({ reservation }) => reservation)
      await Promise.allSettled([last, ...own].map((reservation) => ledger.resolve(reservation, { kind: 'release' })))
    }
  }

  async #releaseHolds(): Promise<void> {
    const items = await readPartition(table, `T#${this.#tenant.tenantId}`)
    for (const item of items.filter(({ SK }) => String(SK).startsWith('PROC#'))) {
      await releaseHold(table, readHoldItem(item), Date.now())
    }
  }
}

const openLedger = () => new RelayLedger(lean, { patienceMilliseconds: 0, clock: HURRIED_CLOCK })

/** Waits last a turn of the event loop. */
const HURRIED_CLOCK = {
  nowMilliseconds: Date.now,
  pause: async () => {
    await new Promise(setImmediate)
  },
}

async function activate({ tenantId }: RelayingTenant, key: Key | undefined) {
  if (key !== undefined) {
    await putApiKey(table, { keyId: key.keyId, digest: key.keyDigest, tenantId, models: null, createdAt: 0 }, TESTER)
  }
}

/** The audit reads no snapshot, and a writer may still give back what turned out to be locked for a caller who got an error. */
async function auditAtRest({ tenantId }: RelayingTenant): Promise<string[]> {
  let findings = await auditTenant(table, tenantId)
  for (let read = 1; read < 20 && findings.length > 0; read += 1) {
    findings = await auditTenant(table, tenantId)
  }
  return findings
}

const BUDGET = { credits: '4', kind: 'total', atMilliseconds: 0 } as const

/** What is wrong with the budgets: their sums, what is held in them, and what was spent. */
async function budgetsAtRest({ tenantId }: RelayingTenant, budgetId: string): Promise<string[]> {
  let findings: string[] = []
  for (let read = 0; read < 20; read += 1) {
    const ofKey = readKeyBudget((await table.readItem(tableKeys.keyBudget(budgetId))) ?? {})
    const ofTenant = readTenantBudget((await table.readItem(tableKeys.balance(tenantId))) ?? {})
    const { balance } = await getTenant(table, tenantId)
    const holds = (await readPartition(table, `T#${tenantId}`)).filter(({ SK }) => String(SK).startsWith('PROC#'))
    const held = holds.reduce((sum, item) => sum + (readHoldItem(item).budgets[budgetId] ?? 0n), 0n)
    const broken = (name: string, budget: Budget | undefined, expected: { held: bigint; spent?: bigint }) =>
      budget !== undefined &&
      budget.left === budget.amount - budget.spent - budget.held &&
      budget.free === budget.amount - budget.held &&
      budget.held === expected.held &&
      (expected.spent === undefined || budget.spent === expected.spent)
        ? []
        : [`the budget of the ${name} does not add up`]
    findings = [...broken('key', ofKey, { held }), ...broken('tenant', ofTenant, balance)]
    if (findings.length === 0) {
      break
    }
  }
  return findings
}

/** The sum of the tenant's usage counters, in microcredits. */
async function countedCost({ tenantId }: RelayingTenant): Promise<bigint> {
  let sum = 0n
  for await (const { cost } of streamUsageCounters(table, tenantId)) {
    sum += cost
  }
  return sum
}

/** Loses requests and answers by a seed's dice, in bursts that outlast every try too. */
function loseAtRandom(seed: number): void {
  const random = seededRandom(seed)
  let burst = 0
  engine.faults.fate = () => {
    burst = burst > 0 ? burst - 1 : random() < 0.02 ? 20 : 0
    const dice = random()
    const lostShare = burst > 0 ? 0.95 : 0.3
    const fates = ['lost_before', 'lost_after', 'conflict'] as const
    return dice > lostShare ? 'pass' : (fates[Math.trunc((dice / lostShare) * fates.length)] ?? 'pass')
  }
}

describe('the books of a tenant whose requests are relayed', () => {
  it('are in order after every step of any history, whatever happens at once and gets lost', async () => {
    const batches = fc.array(fc.array(event, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(batches, fc.integer(), async (history, seed) => {
        engine.faults.fate = () => 'pass'
        const tenant = await openRelayingTenant(table, '5')
        const budget = await storeKeyBudget(table, randomUUID(), BUDGET)
        await storeTenantBudget(table, tenant.tenantId, BUDGET)
        const books = new History(tenant, [await tenant.anotherKey(), { ...(await tenant.anotherKey()), budget }])
        let lastSpent = 0n
        loseAtRandom(seed)
        for (const batch of history) {
          for (const result of await Promise.allSettled(batch.map((step) => books.apply(step)))) {
            expect(result.status === 'fulfilled' ? 'InvalidApiKeyError' : result.reason.name).toMatch(EXPECTED)
          }
          expect(await auditAtRest(tenant)).toEqual([])
          expect(await budgetsAtRest(tenant, budget.id)).toEqual([])
          const { spent, held } = (await getTenant(table, tenant.tenantId)).balance
          expect(held).toBeGreaterThanOrEqual(0n)
          expect(spent).toBeGreaterThanOrEqual(lastSpent)
          lastSpent = spent
        }
        engine.faults.fate = () => 'pass'
        await books.end()
        if (!history.flat().some(({ kind }) => kind === 'crash')) {
          expect((await getTenant(table, tenant.tenantId)).balance.held).toBe(0n)
        }
        lastSpent = (await getTenant(table, tenant.tenantId)).balance.spent
        const rows = (await readPartition(table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')
        expect(new Set(rows.map(({ job }) => job)).size).toBe(rows.length)
        expect(await countedCost(tenant)).toBe(lastSpent)
        expect([...books.resolved.values()].every((times) => times === 1)).toBe(true)
      }),
      { numRuns: 20 },
    )
  })

  it('never let more be held and spent than was granted, when nothing costs more than its reservation', async () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 3_000_000 }), { minLength: 1, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(amounts, fc.integer(), async (wanted, seed) => {
        engine.faults.fate = () => 'pass'
        const tenant = await openRelayingTenant(table, '10')
        loseAtRandom(seed)
        const ledger = new RelayLedger(lean)
        await Promise.allSettled(
          wanted.map((each) => ledger.reserve(tenant.request('0', { amount: microcredits(each) }))),
        )
        expect((await getTenant(table, tenant.tenantId)).balance.available).toBeGreaterThanOrEqual(0n)
        expect(await auditTenant(table, tenant.tenantId)).toEqual([])
      }),
      { numRuns: 8 },
    )
  })
})

describe('RelayLedger without faults', () => {
  it('refuses a reservation exactly when the funds left by those before it do not suffice', async () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 4_000_000 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(amounts, async (wanted) => {
        engine.faults.fate = () => 'pass'
        const tenant = await openRelayingTenant(table, '10')
        const ledger = new RelayLedger(lean)
        const reserved = await Promise.allSettled(
          wanted.map((each) => ledger.reserve(tenant.request('0', { amount: microcredits(each) }))),
        )
        let left = 10_000_000
        const expected = wanted.map((each) => {
          const fits = each <= left
          left -= fits ? each : 0
          return fits ? 'fulfilled' : 'rejected'
        })
        expect(reserved.map(({ status }) => status)).toEqual(expected)
      }),
      { numRuns: 8 },
    )
  })
})
