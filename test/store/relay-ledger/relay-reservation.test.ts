import { describe, expect, it } from '@jest/globals'
import { microcredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import {
  billedAmount,
  countedSettlement,
  isSameResolution,
  type RelayReservation,
  type RelayResolution,
  resolutionRow,
} from '#store/relay-ledger/relay-reservation.ts'

const RESERVATION: RelayReservation = {
  tenantId: 'tenant',
  requestId: 'request',
  model: 'chat-default',
  amount: microcredits(9_007_199_254_740_993n),
  reservedAt: 1_000,
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

const rowOf = (resolution: RelayResolution) => resolutionRow({ reservation: RESERVATION, resolution, at: 2_000 })

describe('the resolution of a relayed request', () => {
  it.each(RESOLUTIONS)('is recorded by the ledger row of $kind $actual, and no other is', (resolution) => {
    expect(RESOLUTIONS.filter((each) => isSameResolution(rowOf(resolution), each))).toEqual([resolution])
  })

  it('is the same by an estimate as by a usage of the same amount', () => {
    const actual = microcredits(7)
    const row = rowOf({ kind: 'settle', actual, estimated: true })
    expect(row).toMatchObject({ estimated: true })
    expect(isSameResolution(row, { kind: 'settle', actual, estimated: false })).toBe(true)
  })

  it('the ledger row of a settlement tells what it was for, with the counts that are not zero, and that it was counted', () => {
    const usage = countedUsage({ inputTokens: 3, outputTokens: 4 })
    expect(rowOf({ kind: 'settle', actual: microcredits(7), estimated: false, usage, channel: 'main' })).toEqual({
      PK: 'L#tenant',
      SK: 'request#2',
      kind: 'settle',
      job: 'request',
      amount: RESERVATION.amount,
      actual: 7n,
      at: 2_000,
      reservedAt: 1_000,
      model: 'chat-default',
      operation: 'create-chat-completion',
      keyId: 'key',
      channel: 'main',
      usage: { inputTokens: 3, outputTokens: 4 },
      counted: true,
    })
  })

  it('is counted with its usage, without usage by its amount alone, and as a release not at all', () => {
    const actual = microcredits(7)
    const counted = (resolution: RelayResolution) =>
      countedSettlement({ reservation: RESERVATION, resolution, at: 2_000 })
    const facts = { tenantId: 'tenant', keyId: 'key', operation: 'create-chat-completion', model: 'chat-default' }
    const usage = countedUsage({ images: 2 })
    expect(counted({ kind: 'settle', actual, estimated: false, usage })).toEqual({ ...facts, at: 2_000, actual, usage })
    expect(counted({ kind: 'settle', actual, estimated: true })?.usage).toEqual(countedUsage({}))
    expect(counted({ kind: 'release' })).toBeUndefined()
  })

  it('bills nothing as a release, and its actual amount as a settlement', () => {
    expect(RESOLUTIONS.map(billedAmount)).toEqual([0n, 0n, 7n, 8n])
  })
})
