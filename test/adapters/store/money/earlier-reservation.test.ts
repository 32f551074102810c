import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  isExpired,
  readEarlierReservation,
  releaseEarlierReservation,
  reservedAtOf,
} from '#adapters/store/money/earlier-reservation.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { microcredits, parseCredits } from '#core/money/money.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { startTestTable, type TestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openRelayingTenant, type RelayingTenant } from '../accounts/relaying-tenant.ts'
import { earlierItem, reserveEarlier } from './earlier-reservations.ts'

const SIXTEEN_MINUTES = 16 * 60 * 1000

let engine: TestTable
let table: TableWithClient
let tenant: RelayingTenant
beforeAll(async () => {
  engine = await startTestTable()
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openRelayingTenant(table, '10')
})
afterAll(() => engine.close())

describe('a reservation of version 0.2.0', () => {
  it('is read to the microcredit, and its due time tells when it was made', () => {
    const amount = microcredits(9_007_199_254_740_993n)
    const { keyDigest: _, ...reservation } = tenant.request('1', { amount })
    const item = earlierItem({ ...reservation, keyDigest: '' })
    expect(readEarlierReservation(item)).toEqual(reservation)
    expect(reservedAtOf(Number(item.GSI1SK))).toBe(reservation.reservedAt)
  })

  it('expires sixteen minutes after it was made, and not a millisecond before', () => {
    const reservation = tenant.request('1')
    expect(isExpired(reservation, reservation.reservedAt + SIXTEEN_MINUTES - 1)).toBe(false)
    expect(isExpired(reservation, reservation.reservedAt + SIXTEEN_MINUTES)).toBe(true)
  })

  it('is given back once, with one row in the ledger that stands for the reservation too', async () => {
    const { keyDigest: _, ...reservation } = tenant.request('3')
    await reserveEarlier(table, { ...reservation, keyDigest: '' })
    expect(await tenant.balance()).toEqual(['7', '3', '0'])
    expect(await releaseEarlierReservation(table, reservation, 5)).toBe(true)
    expect(await releaseEarlierReservation(table, reservation, 6)).toBe(false)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    const { tenantId: _tenantId, requestId, ...facts } = reservation
    const rows = (await readPartition(table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')
    const key = tableKeys.ledgerResolution(tenant.tenantId, requestId)
    expect(rows).toEqual([{ ...key, ...facts, amount: 3_000_000, kind: 'release', job: requestId, at: 5 }])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('of more than the balance holds is an error, and stays', async () => {
    const reservation = tenant.request('3')
    await reserveEarlier(table, reservation)
    await table.updateItem({
      Key: tableKeys.balance(tenant.tenantId),
      UpdateExpression: 'SET held = :less',
      ExpressionAttributeValues: { ':less': parseCredits('2') },
    })
    await expect(releaseEarlierReservation(table, reservation, 5)).rejects.toMatchObject({
      name: 'ConditionsNotMetError',
      failed: new Set(['balance']),
    })
  })
})
