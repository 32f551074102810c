import { describe, expect, it } from 'vitest'
import { countedUsage } from '#core/pricing/usage.ts'
import { detailsOfReservation, NO_DETAILS, readDetails } from '#lambdas/admin/ledger/ledger-details.ts'

const about = { model: 'm', operation: 'create-image', keyId: 'key1' }

describe('readDetails', () => {
  it('reads usage with zero for every count that the row leaves out', () => {
    const row = { ...about, channel: 'main', usage: { images: 2 }, counted: true } as const
    const usage = countedUsage({ images: 2 })
    expect(readDetails(row)).toEqual({ ...about, channel: 'main', usage, isCounted: true })
  })

  it('has nothing for a grant', () => {
    const nothing = { model: null, operation: null, keyId: null, channel: null, usage: null, isCounted: false }
    expect(readDetails({})).toEqual(nothing)
    expect(NO_DETAILS).toEqual(nothing)
  })
})

describe('detailsOfReservation', () => {
  it('keeps what was known when it was reserved', () => {
    const settled = readDetails({ ...about, channel: 'main', usage: { images: 2 }, counted: true })
    expect(detailsOfReservation(settled)).toEqual(readDetails(about))
  })
})
