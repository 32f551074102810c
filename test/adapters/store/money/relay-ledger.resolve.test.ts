import { beforeEach, describe, expect, it } from 'vitest'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { InsufficientQuotaError } from '#core/errors.ts'
import { parseCredits } from '#core/money.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { captureTelemetry } from '../../../engines/counted-facts.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { openRelayingTenant, outcome, RELEASE, type RelayingTenant, settle } from '../accounts/relaying-tenant.ts'
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

describe('a resolution', () => {
  async function open(tenant: RelayingTenant, credits = '1') {
    const request = tenant.request(credits)
    await ledger.reserve(request)
    return request
  }

  it('bills the actual amount, gives the rest back, and leaves one row in the ledger and nothing open', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '3')
    expect(await ledger.resolve(request, settle('1.25'))).toBe('resolved')
    expect(await tenant.balance()).toEqual(['8.75', '0', '1.25'])
    expect(await readPartition(table, `T#${tenant.tenantId}`)).toMatchObject([{ amount: 0, requests: 0, open: [] }])
    const rows = (await readPartition(table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')
    expect(rows).toEqual([
      {
        PK: `L#${tenant.tenantId}`,
        SK: `${request.requestId}#2`,
        kind: 'settle',
        job: request.requestId,
        amount: 3_000_000,
        actual: 1_250_000,
        at: expect.any(Number),
        reservedAt: request.reservedAt,
        model: 'chat-default',
        operation: 'create-chat-completion',
        keyId: request.keyId,
        counted: true,
      },
    ])
    expect(engine.transactions.at(-1)?.kinds).toEqual(['Update', 'Update', 'Put', 'Update'])
    await inOrder(tenant)
  })

  it('is marked when it bills the estimate', async () => {
    const tenant = await openRelayingTenant(table)
    const request = await open(tenant)
    await ledger.resolve(request, settle('1', true))
    expect(await lean.readItem(tableKeys.ledgerResolution(tenant.tenantId, request.requestId))).toMatchObject({
      kind: 'settle',
      estimated: true,
    })
  })

  it('that releases gives everything back and bills nothing', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '3')
    expect(await ledger.resolve(request, RELEASE)).toBe('resolved')
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    const row = await lean.readItem(tableKeys.ledgerResolution(tenant.tenantId, request.requestId))
    expect(row).toMatchObject({ kind: 'release', amount: 3_000_000 })
    expect(row).not.toHaveProperty('actual')
  })

  it('above its reservation takes the balance below zero, and the next reservation is refused', async () => {
    const tenant = await openRelayingTenant(table, '1')
    const request = await open(tenant, '1')
    await ledger.resolve(request, settle('1.5'))
    expect(await tenant.balance()).toEqual(['-0.5', '0', '1.5'])
    await expect(ledger.reserve(tenant.request('0.000001'))).rejects.toBeInstanceOf(InsufficientQuotaError)
  })

  it('repeated is told so and changes nothing', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    await ledger.resolve(request, settle('0.5'))
    expect(await ledger.resolve(request, settle('0.5'))).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(telemetry.counted()).toEqual([])
  })

  it.each([
    ['a settlement', settle('0.5'), RELEASE, ['9.5', '0', '0.5']],
    ['a release', RELEASE, settle('0.5'), ['10', '0', '0']],
    ['another settlement', settle('0.5'), settle('0.6'), ['9.5', '0', '0.5']],
  ])('after %s is turned away when it says otherwise, and counted', async (_, first, second, balance) => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    await ledger.resolve(request, first)
    expect(await ledger.resolve(request, second)).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(balance)
    expect(telemetry.counted()).toEqual(['resolution_conflict'])
  })

  it('wins alone when two are made at the same time', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    const outcomes = await Promise.all([ledger.resolve(request, settle('0.5')), ledger.resolve(request, RELEASE)])
    expect(outcomes).toEqual(['resolved', 'already_resolved'])
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(telemetry.counted()).toEqual(['resolution_conflict'])
    await inOrder(tenant)
  })

  it('is made by the process of the request alone: another process has nothing to resolve', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    const other = new RelayLedger(lean)
    await expect(other.resolve(request, RELEASE)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    expect(await ledger.resolve(request, settle('0.5'))).toBe('resolved')
    expect(await other.resolve(request, settle('0.5'))).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    await inOrder(tenant)
  })

  it('of something that was never reserved fails and says so', async () => {
    const tenant = await openRelayingTenant(table)
    await expect(ledger.resolve(tenant.request('1'), settle('1'))).rejects.toMatchObject({
      name: 'ConditionsNotMetError',
    })
    const request = await open(tenant)
    await expect(ledger.resolve({ ...request, amount: parseCredits('5') }, RELEASE)).rejects.toMatchObject({
      name: 'ConditionsNotMetError',
    })
    expect(await tenant.balance()).toEqual(['99', '1', '0'])
  })

  it('pays for a reservation of the same moment', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '10')
    const before = engine.transactions.length
    const [resolved, reserved] = await Promise.all([
      ledger.resolve(request, RELEASE),
      outcome(ledger.reserve(tenant.request('10'))),
    ])
    expect([resolved, reserved]).toEqual(['resolved', 'done'])
    expect(engine.transactions).toHaveLength(before + 1)
    expect(await tenant.balance()).toEqual(['0', '10', '0'])
  })

  it('does not fail with the reservation beside it', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '4')
    const outcomes = await Promise.all([
      ledger.resolve(request, settle('4')),
      outcome(ledger.reserve(tenant.request('7'))),
    ])
    expect(outcomes).toEqual(['resolved', 'InsufficientQuotaError'])
    expect(await tenant.balance()).toEqual(['6', '0', '4'])
  })

  it('that fails takes no reservation beside it along', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const never = tenant.request('1')
    const outcomes = await Promise.all([
      outcome(ledger.resolve(never, RELEASE)),
      outcome(ledger.reserve(tenant.request('7'))),
    ])
    expect(outcomes).toEqual(['ConditionsNotMetError', 'done'])
    expect(await tenant.balance()).toEqual(['3', '7', '0'])
  })

  it('goes with the next reservation of a client that sends one request after the other', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const resolutions: Promise<string>[] = []
    for (let count = 0; count < 5; count += 1) {
      const request = tenant.request('1')
      await ledger.reserve(request)
      resolutions.push(ledger.resolve(request, settle('0.5')))
    }
    await Promise.all(resolutions)
    expect(engine.transactions.map(({ kinds }) => kinds.length)).toEqual([3, 5, 5, 5, 5, 4])
    expect(await tenant.balance()).toEqual(['7.5', '0', '2.5'])
  })

  it('alone is written soon, without a reservation to go with', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    const started = performance.now()
    await ledger.resolve(request, RELEASE)
    expect(performance.now() - started).toBeLessThan(500)
  })
})
