import { describe, expect, it } from '@jest/globals'
import {
  billedAmount,
  closeReservation,
  isExpired,
  isSameResolution,
  putReservation,
  type RelayReservation,
  type RelayResolution,
  readOpenRequest,
  reservedAtOf,
} from '#adapters/store/money/relay-reservation.ts'
import type { TableWrite } from '#adapters/store/table/table.ts'
import { microcredits } from '#core/money/money.ts'

const SIXTEEN_MINUTES = 16 * 60 * 1000
const OPEN = {
  tenantId: 'tenant',
  requestId: 'request',
  model: 'chat-default',
  amount: microcredits(9_007_199_254_740_993n),
  reservedAt: 1_000,
}
const RESERVATION: RelayReservation = {
  ...OPEN,
  keyDigest: 'digest',
  keyId: 'key',
  operation: 'create-chat-completion',
}

const RESOLUTIONS: readonly RelayResolution[] = [
  { kind: 'release' },
  { kind: 'settle', actual: microcredits(0), estimated: false },
  { kind: 'settle', actual: microcredits(7), estimated: false },
  { kind: 'settle', actual: microcredits(8), estimated: false },
]

function itemOf(write: TableWrite) {
  if (!('Put' in write)) {
    throw new Error('not a put')
  }
  return write.Put.Item
}

describe('relay-reservation', () => {
  it('an open reservation is read as it was written, to the microcredit', () => {
    expect(readOpenRequest(itemOf(putReservation(RESERVATION)))).toEqual(OPEN)
  })

  it('its due time tells when it was made', () => {
    expect(reservedAtOf(Number(itemOf(putReservation(RESERVATION)).GSI1SK))).toBe(OPEN.reservedAt)
  })

  it('expires sixteen minutes after it was made, and not a millisecond before', () => {
    expect(isExpired(OPEN, OPEN.reservedAt + SIXTEEN_MINUTES - 1)).toBe(false)
    expect(isExpired(OPEN, OPEN.reservedAt + SIXTEEN_MINUTES)).toBe(true)
  })

  it.each(RESOLUTIONS)('the ledger row of %j records this resolution, and no other', (resolution) => {
    const row = itemOf(closeReservation(OPEN, resolution, 2_000).row)
    expect(RESOLUTIONS.filter((each) => isSameResolution(row, each))).toEqual([resolution])
  })

  it('a settlement by an estimate is the same resolution as one by usage of the same amount', () => {
    const actual = microcredits(7)
    const row = itemOf(closeReservation(OPEN, { kind: 'settle', actual, estimated: true }, 2_000).row)
    expect(row).toMatchObject({ estimated: true })
    expect(isSameResolution(row, { kind: 'settle', actual, estimated: false })).toBe(true)
  })

  it('a release bills nothing, a settlement its actual amount', () => {
    expect(RESOLUTIONS.map(billedAmount)).toEqual([0n, 0n, 7n, 8n])
  })
})
