import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '#adapters/clock.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { RelayReservation } from '#adapters/store/money/relay-reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { openRelayingTenant, RELEASE, type RelayingTenant, settle } from '../accounts/relaying-tenant.ts'
import { startRelayTable } from './relay-table.ts'

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

describe('by the clock of the system', () => {
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
