import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { systemClock } from '#platform/clock.ts'
import { setApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { ConditionsNotMetError, type Table } from '#store/table/table.ts'
import { auditTenant } from '../../engines/audit.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import {
  countOf,
  openRelayingTenant,
  outcome,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from './relaying-tenant.ts'

describe('RelayLedger: reservations at the same time', () => {
  const engine = useOpened(startRelayTable)
  let table: Table
  let lean: Table
  let ledger: RelayLedger
  beforeEach(async () => {
    ;({ table, lean } = await engine.fresh())
    ledger = new RelayLedger(lean)
  })

  const reserveAll = (requests: readonly ReturnType<RelayingTenant['request']>[]) =>
    Promise.all(requests.map((request) => outcome(ledger.reserve(request))))
  const inOrder = async (tenant: RelayingTenant) => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

  it('go together: one transaction, one move of the balance and of the hold, one check for each key', async () => {
    const tenant = await openRelayingTenant(table)
    const other = await tenant.anotherKey()
    const requests = [tenant.request('1'), tenant.request('2'), tenant.request('3', other)]
    expect(await reserveAll(requests)).toEqual(['done', 'done', 'done'])
    expect(engine.transactions.map(({ kinds }) => kinds.join())).toEqual([
      'Update,Update,ConditionCheck,ConditionCheck',
    ])
    expect(await tenant.balance()).toEqual(['94', '6', '0'])
  })

  it('are let through up to the funds and not one more', async () => {
    const tenant = await openRelayingTenant(table, '7')
    const outcomes = await reserveAll(Array.from({ length: 50 }, () => tenant.request('0.7')))
    expect(countOf(outcomes, 'done')).toBe(10)
    expect(countOf(outcomes, 'InsufficientQuotaError')).toBe(40)
    // The balance that refused the first says who may pay; nobody is tried one by one.
    expect(engine.transactions).toHaveLength(3)
    expect(await tenant.balance()).toEqual(['0', '7', '0'])
    await inOrder(tenant)
  })

  it('are let through up to the funds also where the table does not say what the balance was', async () => {
    const tenant = await openRelayingTenant(table, '7')
    const silent: Table = {
      ...lean,
      transact: (writes) =>
        lean.transact(writes).catch((error: unknown) => {
          throw error instanceof ConditionsNotMetError ? new ConditionsNotMetError(error.failed) : error
        }),
    }
    ledger = new RelayLedger(silent)
    const outcomes = await reserveAll(Array.from({ length: 20 }, () => tenant.request('0.7')))
    expect(outcomes).toEqual([...Array(10).fill('done'), ...Array(10).fill('InsufficientQuotaError')])
    await inOrder(tenant)
  })

  it('of several processes are let through up to the funds and not one more', async () => {
    const tenant = await openRelayingTenant(table, '7')
    const ledgers = Array.from({ length: 5 }, () => new RelayLedger(lean))
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => outcome((ledgers[index % 5] ?? ledger).reserve(tenant.request('0.7')))),
    )
    expect(countOf(outcomes, 'done')).toBe(10)
    await inOrder(tenant)
  })

  it('are refused by what each of them costs: who can pay is not refused for one who cannot', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const amounts = ['4', '11', '4', '100', '2', '0.000001']
    expect(await reserveAll(amounts.map((amount) => tenant.request(amount)))).toEqual([
      'done',
      'InsufficientQuotaError',
      'done',
      'InsufficientQuotaError',
      'done',
      'InsufficientQuotaError',
    ])
    expect(await tenant.balance()).toEqual(['0', '10', '0'])
  })

  it('of a revoked key fail alone, with their own error', async () => {
    const tenant = await openRelayingTenant(table)
    const revoked = await tenant.anotherKey()
    await revokeApiKey(table, revoked.keyId, TESTER)
    const requests = [tenant.request('1'), tenant.request('1', revoked), tenant.request('200'), tenant.request('1')]
    expect(await reserveAll(requests)).toEqual(['done', 'InvalidApiKeyError', 'InsufficientQuotaError', 'done'])
    expect(await tenant.balance()).toEqual(['98', '2', '0'])
  })

  it('that read different revisions of a key are judged apart: only the older ones are refused', async () => {
    const tenant = await openRelayingTenant(table)
    const keyId = tenant.keyDigest.slice(0, 8)
    const actor = { name: 'alice', role: 'operator' } as const
    await setApiKey(table, { keyId, settings: { name: 'New' }, actor })
    const changed = { keyRevision: 1 }
    const requests = [
      tenant.request('1'),
      tenant.request('1', changed),
      tenant.request('1'),
      tenant.request('1', changed),
    ]
    expect(await reserveAll(requests)).toEqual(['InvalidApiKeyError', 'done', 'InvalidApiKeyError', 'done'])
    expect(await tenant.balance()).toEqual(['98', '2', '0'])
  })

  it('that are more than a transaction takes go in several, in the order in which they came', async () => {
    const tenant = await openRelayingTenant(table)
    const order: number[] = []
    const reserved = Array.from({ length: 200 }, async (_, index) => {
      await ledger.reserve(tenant.request('0.1'))
      order.push(index)
    })
    await Promise.all(reserved)
    expect(order).toEqual(order.toSorted((left, right) => left - right))
    expect(engine.transactions).toHaveLength(3)
    await inOrder(tenant)
  })

  it('of one tenant never meet in two transactions of one process', async () => {
    const tenant = await openRelayingTenant(table)
    let underWay = 0
    let most = 0
    const counting: Table = {
      ...lean,
      transact: async (writes) => {
        underWay += 1
        most = Math.max(most, underWay)
        await lean.transact(writes)
        underWay -= 1
      },
    }
    ledger = new RelayLedger(counting)
    const lives = Array.from({ length: 30 }, async (_, index) => {
      for (let turn = 0; turn < index; turn += 1) {
        await new Promise(setImmediate)
      }
      const request = tenant.request('0.1')
      await ledger.reserve(request)
      await ledger.resolve(request, settle('0.05'))
    })
    await Promise.all(lives)
    expect(most).toBe(1)
    expect(await tenant.balance()).toEqual(['98.5', '0', '1.5'])
  })

  it('that one of them spoils are written without it', async () => {
    const tenant = await openRelayingTenant(table)
    const spoiled = tenant.request('1', { keyDigest: 'x'.repeat(5_000) })
    const outcomes = await reserveAll([tenant.request('1'), spoiled, tenant.request('1'), tenant.request('1')])
    expect(outcomes).toEqual(['done', 'TransactionCanceledException', 'done', 'done'])
    expect(await tenant.balance()).toEqual(['97', '3', '0'])
  })
})

describe('RelayLedger, waiting:', () => {
  const engine = useOpened(startRelayTable)
  let table: Table
  let lean: Table
  let tenant: RelayingTenant
  let ledger: RelayLedger
  let now: number
  /** Pauses of the ledger: their lengths, and what ends each. */
  let pauses: { readonly milliseconds: number; readonly end: () => void }[]
  beforeEach(async () => {
    ;({ table, lean } = await engine.fresh())
    tenant = await openRelayingTenant(table, '100')
    now = Date.now()
    pauses = []
    ledger = new RelayLedger(lean, {
      clock: {
        nowMilliseconds: () => now,
        pause: (milliseconds) => new Promise((end) => pauses.push({ milliseconds, end })),
      },
    })
  })

  async function open(count: number): Promise<RelayReservation[]> {
    const requests = Array.from({ length: count }, () => tenant.request('0.1', { reservedAt: now }))
    await Promise.all(requests.map((request) => ledger.reserve(request)))
    engine.transactions.length = 0
    return requests
  }

  const settleAll = (requests: readonly RelayReservation[]) =>
    Promise.all(requests.map((request) => ledger.resolve(request, settle('0.1'))))

  /** Long enough for whatever would be sent at once. */
  async function someTurns() {
    for (let turn = 0; turn < 20; turn += 1) {
      await nextTurn()
    }
  }

  describe('a settlement', () => {
    it('of the only open request never waits', async () => {
      const [request] = await open(1)
      await ledger.resolve(request ?? tenant.request('1'), RELEASE)
      expect(pauses).toEqual([])
    })

    it('waits a quarter of a second for company while other requests are open, and no longer', async () => {
      const [first, second] = await open(2)
      const settled = settleAll([first ?? tenant.request('1')])
      await someTurns()
      expect(engine.transactions).toEqual([])
      expect(pauses.map(({ milliseconds }) => milliseconds)).toEqual([250])
      pauses[0]?.end()
      expect(await settled).toEqual(['resolved'])
      await settleAll([second ?? tenant.request('1')])
      expect(pauses).toHaveLength(1)
    })

    it('waits only for what is left of its time after the transaction before it', async () => {
      const requests = await open(4)
      const [first = tenant.request('1'), second = tenant.request('1')] = requests
      const settled = settleAll([first])
      now += 100
      const later = settleAll([second])
      pauses[0]?.end()
      await settled
      expect(await later).toEqual(['resolved'])
      expect(engine.transactions).toHaveLength(1)
    })

    it('is sent at once when all open requests wait', async () => {
      const requests = await open(3)
      const settled = settleAll(requests.slice(0, 2))
      await someTurns()
      expect(engine.transactions).toEqual([])
      await Promise.all([settled, settleAll(requests.slice(2))])
      expect(engine.transactions.map(({ kinds }) => kinds.length)).toEqual([2 + 3 + 1])
    })

    it('is sent at once with a reservation, which never waits', async () => {
      const requests = await open(3)
      const settled = settleAll(requests.slice(0, 1))
      await someTurns()
      await ledger.reserve(tenant.request('1'))
      expect(await settled).toEqual(['resolved'])
      expect(engine.transactions).toHaveLength(1)
    })

    it('is sent at once when ninety wait, all in one transaction', async () => {
      const requests = await open(100)
      const settled = settleAll(requests.slice(0, 89))
      await someTurns()
      expect(engine.transactions).toEqual([])
      const last = settleAll(requests.slice(89, 90))
      expect([...(await settled), ...(await last)]).toHaveLength(90)
      expect(engine.transactions.map(({ kinds }) => kinds.length)).toEqual([2 + 90 + 1])
      expect(await tenant.balance()).toEqual(['90', '1', '9'])
    })

    it('that no transaction could write for half a minute is billed with the tenant’s next group', async () => {
      const [request = tenant.request('1')] = await open(1)
      engine.faults.fate = () => 'conflict'
      const settled = ledger.resolve(request, settle('0.1'))
      settled.catch(() => undefined)
      while (pauses.length === 0) {
        await nextTurn()
      }
      now += 30_000
      pauses[0]?.end()
      await expect(settled).rejects.toMatchObject({ name: 'ServiceUnavailableError' })
      engine.faults.fate = () => 'pass'
      await ledger.reserve(tenant.request('1'))
      expect(await tenant.balance()).toEqual(['98.9', '1', '0.1'])
      expect(engine.transactions).toHaveLength(1)
    })
  })

  describe('a request that is open while the clock jumps', () => {
    it('stays open beside the next groups of its process, and is billed', async () => {
      const [first = tenant.request('1')] = await open(1)
      now += 20 * 60_000
      await ledger.reserve(tenant.request('1', { reservedAt: now }))
      const next = tenant.request('1', { reservedAt: now })
      expect(await Promise.all([ledger.resolve(first, settle('0.1')), ledger.reserve(next)])).toEqual([
        'resolved',
        undefined,
      ])
      expect(await tenant.balance()).toEqual(['97.9', '2', '0.1'])
    })
  })

  describe('by the clock of the system,', () => {
    /** The pauses of the ledger that are over, in milliseconds. */
    let paused: readonly number[]
    beforeEach(() => {
      const over: number[] = []
      paused = over
      const pause = async (milliseconds: number) => {
        const start = performance.now()
        await systemClock.pause(milliseconds)
        over.push(performance.now() - start)
      }
      ledger = new RelayLedger(lean, { clock: { ...systemClock, pause } })
    })

    it('requests one after the other, as a function serves them, never wait', async () => {
      for (let request = 0; request < 5; request += 1) {
        const [reservation = tenant.request('1')] = await open(1)
        await ledger.resolve(reservation, settle('0.1'))
      }
      expect(paused).toEqual([])
      expect(await tenant.balance()).toEqual(['99.5', '0', '0.5'])
    })

    it('a reservation beside many open requests never waits, nor does the settlement that goes with it', async () => {
      const [first = tenant.request('1')] = await open(5)
      const pausedBefore: number[] = []
      engine.faults.fate = () => {
        pausedBefore.push(paused.length)
        return 'pass'
      }
      const settled = ledger.resolve(first, settle('0.1'))
      await ledger.reserve(tenant.request('1'))
      await settled
      // One transaction, sent before any pause was over.
      expect(pausedBefore).toEqual([0])
    })

    it('a settlement beside an open request waits 250 ms, once, and is then written without the other', async () => {
      const [first = tenant.request('1')] = await open(2)
      await ledger.resolve(first, settle('0.1'))
      expect(paused).toEqual([expect.any(Number)])
      expect(paused[0]).toBeGreaterThan(240)
      expect(await tenant.balance()).toEqual(['99.8', '0.1', '0.1'])
    })

    it('settlements of one quarter of a second share a transaction, however many they are', async () => {
      const requests = await open(40)
      await settleAll(requests.slice(0, 39))
      expect(engine.transactions.map(({ kinds }) => kinds.length)).toEqual([2 + 39 + 1])
      expect(paused).toHaveLength(1)
    })
  })
})
