import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { OpenRequest, RelayResolution } from '#adapters/store/money/relay-reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { microcredits } from '#core/money/money.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { captureTelemetry } from '../../../engines/counted-facts.ts'
import { seededRandom } from '../../../engines/seeded-random.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openRelayingTenant, type RelayingTenant } from '../accounts/relaying-tenant.ts'
import { type RelayTable, startRelayTable } from './relay-table.ts'

captureTelemetry()
let engine: RelayTable
let table: Table
let lean: Table
beforeAll(async () => {
  engine = await startRelayTable()
  ;({ table, lean } = await engine.fresh())
})
afterAll(() => engine.close())

/** What may happen to a tenant's money. `request` picks one of those so far, reserved or not; `ledger` the process that does it. */
type Event =
  | { readonly kind: 'reserve'; readonly amount: number; readonly ledger: number; readonly key: number }
  | { readonly kind: 'settle'; readonly request: number; readonly actual: number; readonly ledger: number }
  | { readonly kind: 'release'; readonly request: number; readonly ledger: number }
  | { readonly kind: 'revoke'; readonly key: number }
  | { readonly kind: 'activate'; readonly key: number }

const amount = fc.integer({ min: 0, max: 2_000_000 })
const request = fc.integer({ min: 0, max: 15 })
const ledger = fc.integer({ min: 0, max: 1 })
const key = fc.integer({ min: 0, max: 1 })
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('reserve' as const), amount, ledger, key }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), request, actual: amount, ledger }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), request, ledger }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('activate' as const), key }) },
)

/** Errors that tell a client or a log what happened; anything else would be a fault of ours. */
const EXPECTED = /^(InvalidApiKeyError|InsufficientQuotaError|ServiceUnavailableError|ConditionsNotMetError)$/

type Key = { readonly keyDigest: string; readonly keyId: string }

/** One history of one tenant, written by two processes. */
class History {
  readonly #tenant: RelayingTenant
  readonly #keys: readonly Key[]
  readonly #ledgers = [
    new RelayLedger(lean, { patienceMilliseconds: 0 }),
    new RelayLedger(lean, { patienceMilliseconds: 0 }),
  ]
  readonly #requests: OpenRequest[] = []
  readonly resolved = new Map<string, number>()

  constructor(tenant: RelayingTenant, keys: readonly Key[]) {
    this.#tenant = tenant
    this.#keys = keys
  }

  async apply(step: Event): Promise<void> {
    switch (step.kind) {
      case 'reserve': {
        const reservation = this.#tenant.request('0', { ...this.#keys[step.key], amount: microcredits(step.amount) })
        this.#requests.push(reservation)
        return await this.#ledgers[step.ledger]?.reserve(reservation)
      }
      case 'settle':
        return await this.#resolve(step, { kind: 'settle', actual: microcredits(step.actual), estimated: false })
      case 'release':
        return await this.#resolve(step, { kind: 'release' })
      case 'revoke':
        return await revokeApiKey(table, this.#keys[step.key]?.keyId ?? '', TESTER)
      case 'activate':
        return await activate(this.#tenant, this.#keys[step.key])
      default:
        step satisfies never
    }
  }

  async #resolve(step: { request: number; ledger: number }, resolution: RelayResolution): Promise<void> {
    const request = this.#requests[step.request]
    if (request !== undefined && (await this.#ledgers[step.ledger]?.resolve(request, resolution)) === 'resolved') {
      this.resolved.set(request.requestId, (this.resolved.get(request.requestId) ?? 0) + 1)
    }
  }
}

async function activate({ tenantId }: RelayingTenant, key: Key | undefined) {
  if (key !== undefined) {
    await putApiKey(table, { keyId: key.keyId, digest: key.keyDigest, tenantId, models: null, createdAt: 0 }, TESTER)
  }
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
        const books = new History(tenant, [await tenant.anotherKey(), await tenant.anotherKey()])
        let lastSpent = 0n
        loseAtRandom(seed)
        for (const batch of history) {
          for (const result of await Promise.allSettled(batch.map((step) => books.apply(step)))) {
            expect(result.status === 'fulfilled' ? 'InvalidApiKeyError' : result.reason.name).toMatch(EXPECTED)
          }
          expect(await auditTenant(table, tenant.tenantId)).toEqual([])
          const { spent, held } = (await getTenant(table, tenant.tenantId)).balance
          expect(held).toBeGreaterThanOrEqual(0n)
          expect(spent).toBeGreaterThanOrEqual(lastSpent)
          lastSpent = spent
        }
        const rows = (await readPartition(table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')
        expect(new Set(rows.map(({ job }) => job)).size).toBe(rows.length)
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

describe('without faults', () => {
  it('a reservation is refused exactly when the funds left by those before it do not suffice', async () => {
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
