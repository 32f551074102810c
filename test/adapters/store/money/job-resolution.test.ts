import { describe, expect, it } from 'vitest'
import {
  countSettlement,
  type JobResolution,
  putResolutionRow,
  type Resolution,
} from '#adapters/store/money/job-resolution.ts'
import { readReservationItem } from '#adapters/store/money/reservation.ts'
import { microcredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { videoJobRecord } from '../../../engines/video-job-record.ts'

const AT = Date.UTC(2026, 10, 30, 12)
const JOB = { ...videoJobRecord(), tenantId: 'acme', jobId: 'j1', model: 'm#1', channelId: 'ch' }
const ITEM = {
  amount: 700_000,
  state: 'held',
  snapshot: {
    billing: 'per_second',
    prices: [{ resolution: 'any', audio: 'any', video_input: 'any', price: '0.14' }],
    quantityMax: 60,
  },
  tier: { resolution: '720P', audio: true, videoInput: false },
  request: '{}',
  keyId: 'k1',
  operation: 'create-video-job',
  restarts: 0,
}

function resolution(change: Resolution): JobResolution {
  return { job: JOB, reservation: readReservationItem(ITEM), resolution: change, nowMilliseconds: AT }
}

const USAGE = countedUsage({ videoMilliseconds: 5_000 })
const settlement = (actual: number): Resolution => ({
  kind: 'settle',
  actual: microcredits(actual),
  durationSeconds: '5',
  usage: USAGE,
})
const RELEASE: Resolution = { kind: 'release', error: 'no' }

describe('putResolutionRow', () => {
  it('says of a settlement what was used, by which key and channel, and that it is counted', () => {
    expect(putResolutionRow(resolution(settlement(500_000)))).toMatchObject({
      Put: {
        Item: {
          PK: 'L#acme',
          SK: 'j1#2',
          kind: 'settle',
          amount: 700_000n,
          actual: 500_000n,
          at: AT,
          model: 'm#1',
          operation: 'create-video-job',
          keyId: 'k1',
          channel: 'ch',
          billing: 'per_second',
          usage: { videoMilliseconds: 5_000 },
          counted: true,
          estimated: undefined,
        },
      },
    })
  })

  it('marks a bill by the estimate', () => {
    const estimated = { ...settlement(700_000), estimated: true } as Resolution
    expect(putResolutionRow(resolution(estimated))).toMatchObject({ Put: { Item: { estimated: true } } })
  })

  it('says of a release what it was for, and marks nothing as counted', () => {
    const { Put } = putResolutionRow(resolution(RELEASE)) as { Put: { Item: object } }
    expect(Put.Item).toMatchObject({ kind: 'release', model: 'm#1', operation: 'create-video-job', keyId: 'k1' })
    expect(Put.Item).not.toHaveProperty('counted')
    expect(Put.Item).not.toHaveProperty('actual')
  })
})

describe('countSettlement', () => {
  it('adds the settlement to the counter of its day, key, operation and model', () => {
    const [write] = Object.values(countSettlement(resolution(settlement(500_000))))
    expect(write).toMatchObject({
      Update: {
        Key: { PK: 'U#acme', SK: '2026-11-30#k1#create-video-job#m#1' },
        ExpressionAttributeValues: { ':requests': 1, ':videoMilliseconds': 5_000, ':cost': 500_000n },
      },
    })
  })

  it.each([
    ['a release', RELEASE],
    ['a settlement without a price, whose row is not marked either', settlement(0)],
  ])('does not count %s', (_, change) => {
    expect(countSettlement(resolution(change))).toEqual({})
    expect(putResolutionRow(resolution(change))).not.toMatchObject({ Put: { Item: { counted: true } } })
  })
})
