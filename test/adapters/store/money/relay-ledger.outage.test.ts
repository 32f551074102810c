import { beforeEach, describe, expect, it } from 'vitest'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { auditTenant } from '../../../engines/audit.ts'
import { captureTelemetry } from '../../../engines/counted-facts.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { openRelayingTenant, RELEASE, type RelayingTenant, settle } from '../accounts/relaying-tenant.ts'
import { startRelayTable } from './relay-table.ts'

const telemetry = captureTelemetry()
const engine = useOpened(startRelayTable)
let table: Table
let lean: Table
let ledger: RelayLedger
beforeEach(async () => {
  ;({ table, lean } = await engine.fresh())
  ledger = new RelayLedger(lean)
  telemetry.reset()
})

const inOrder = async (tenant: RelayingTenant) => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

describe('an outage', () => {
  /** A clock that only pauses move. */
  function ownClock() {
    let now = Date.now()
    return {
      nowMilliseconds: () => now,
      pause: async (milliseconds: number) => {
        now += milliseconds
      },
      elapsed: (since: number) => now - since,
    }
  }

  it('is waited out by a resolution, which then happens once', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const clock = ownClock()
    ledger = new RelayLedger(lean, { clock })
    const request = tenant.request('1')
    await ledger.reserve(request)
    let calls = 0
    engine.faults.fate = () => {
      calls += 1
      return calls > 40 ? 'pass' : calls % 2 === 0 ? 'lost_before' : 'lost_after'
    }
    expect(await ledger.resolve(request, settle('0.5'))).toBe('resolved')
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(telemetry.counted()).toEqual([])
    await inOrder(tenant)
  })

  it('of more than half a minute leaves the reservation open', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const clock = ownClock()
    ledger = new RelayLedger(lean, { clock })
    const request = tenant.request('1')
    await ledger.reserve(request)
    const started = clock.nowMilliseconds()
    engine.faults.fate = () => 'lost_before'
    await expect(ledger.resolve(request, settle('0.5'))).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(clock.elapsed(started)).toBeGreaterThanOrEqual(30_000)
    expect(clock.elapsed(started)).toBeLessThan(32_000)
    engine.faults.fate = () => 'pass'
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
  })

  it('is not waited out by a ledger without patience', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = tenant.request('1')
    await ledger.reserve(request)
    engine.faults.fate = () => 'lost_before'
    const impatient = new RelayLedger(lean, { clock: ownClock(), patienceMilliseconds: 0 })
    const before = engine.transactions.length
    await expect(impatient.resolve(request, RELEASE)).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(engine.transactions.length - before).toBe(0)
  })

  it('in which only replies are lost locks once', async () => {
    const tenant = await openRelayingTenant(table, '10')
    let calls = 0
    engine.faults.fate = () => (++calls < 4 ? 'lost_after' : 'pass')
    await ledger.reserve(tenant.request('1'))
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
    expect(new Set(engine.transactions.map(({ token }) => token)).size).toBe(1)
  })
})
