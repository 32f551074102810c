import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { countedUsage } from '#core/pricing/usage.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { openLeanTable } from '#store/table/lean-table.ts'
import { storeKeyBudget, storeTenantBudget } from '../../engines/budgets.ts'
import { CostMeter, startMeteredTable } from '../../engines/cost-meter.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import type { Loopback } from '../../platform/http/loopback.ts'
import { openRelayingTenant, type RelayingTenant, settle } from './relaying-tenant.ts'

const meter = new CostMeter()
const before = { ...process.env }
const engine = useTestTable()
let metered: Loopback
let table: TableWithClient
let tenant: RelayingTenant
let ledger: RelayLedger
beforeAll(async () => {
  metered = await startMeteredTable(engine.endpoint, meter)
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openRelayingTenant(table, '1000')
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: metered.origin,
    TABLE_NAME: table.name,
  })
  ledger = new RelayLedger(openLeanTable())
  // The process has a hold from then on.
  await relay(1)
})
afterAll(async () => {
  process.env = before
  await metered.stop()
})

type Changes = Partial<RelayReservation>

const unitsOf = async (run: () => Promise<unknown>) => (await meter.apart(run)).writeUnits

async function reserve(count: number, changes: Changes): Promise<RelayReservation[]> {
  const requests = Array.from({ length: count }, () => tenant.request('1', changes))
  await Promise.all(requests.map((request) => ledger.reserve(request)))
  return requests
}

function settleAll(requests: readonly RelayReservation[]): Promise<unknown> {
  const usage = countedUsage({ inputTokens: 1_234, cachedInputTokens: 1_024, outputTokens: 567 })
  const resolution = { ...settle('0.5'), usage, channel: 'main-channel' }
  return Promise.all(requests.map((request) => ledger.resolve(request, resolution)))
}

/** Write units to reserve and to settle so many requests at once. */
async function relay(count: number, changes: Changes = {}): Promise<readonly [reserve: number, settle: number]> {
  let requests: RelayReservation[] = []
  const reserving = await unitsOf(async () => {
    requests = await reserve(count, changes)
  })
  return [reserving, await unitsOf(() => settleAll(requests))]
}

/** The targets: 14 alone, 3.0 a request in groups of 16, 2.5 in groups of 64, with counters and the key check. */
describe('the write units of relayed requests', () => {
  it('alone: 6 to reserve and 8 to settle', async () => {
    expect(await relay(1)).toEqual([6, 8])
  })

  it('of the first request of a process: one more, for the index', async () => {
    ledger = new RelayLedger(openLeanTable())
    expect(await relay(1)).toEqual([7, 8])
  })

  it.each([
    [16, [6, 38], 2.75],
    [64, [6, 134], 2.1875],
    [90, [6, 186], 2.1333],
  ])('in groups of %i: %j, for each request %f', async (count, units, each) => {
    const [reserving, settling] = await relay(count)
    expect([reserving, settling]).toEqual(units)
    expect((reserving + settling) / count).toBeCloseTo(each, 4)
  })

  it('of sixteen clients that send one request after the other: settlements and reservations share transactions', async () => {
    const first = await reserve(16, {})
    const units = await unitsOf(() => Promise.all([settleAll(first), reserve(16, {})]))
    expect(units).toBe(40)
  })

  it('with a budget of the key: 4 more alone, 2 more for each group', async () => {
    const budget = await storeKeyBudget(table, 'b', { credits: '900', kind: 'month', atMilliseconds: Date.now() })
    expect(await relay(1, { budget })).toEqual([8, 10])
    expect(await relay(16, { budget })).toEqual([8, 40])
  })

  it('with a budget of the tenant: not one more', async () => {
    await storeTenantBudget(table, tenant.tenantId, { credits: '900', kind: 'day', atMilliseconds: Date.now() })
    // The process learns the budget by one refused transaction.
    await relay(1)
    expect(await relay(1)).toEqual([6, 8])
    expect(await relay(16)).toEqual([6, 38])
  })

  it('of several keys and models: 2 for each further check, 2 for each further counter', async () => {
    const other = await tenant.anotherKey()
    const reserving = await unitsOf(() => Promise.all([reserve(8, {}), reserve(8, other)]))
    expect(reserving).toBe(8)
    const models = [...(await reserve(8, { model: 'a' })), ...(await reserve(8, { model: 'b' }))]
    // Sixteen others stay open, so that these wait for company until all have arrived.
    expect(await unitsOf(() => settleAll(models))).toBe(40)
  })

  it('are not more however many are open: the hold stays below a kilobyte', async () => {
    await reserve(300, {})
    expect(await unitsOf(() => reserve(1, {}))).toBe(6)
  })
})
