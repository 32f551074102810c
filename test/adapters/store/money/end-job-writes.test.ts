import { describe, expect, it } from 'vitest'
import { closeReservation, endJob, freeSlot } from '#adapters/store/money/end-job-writes.ts'
import { readReservationItem } from '#adapters/store/money/reservation.ts'
import { JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'
import { videoJobRecord } from '../../../engines/video-job-record.ts'

const JOB = { ...videoJobRecord(), tenantId: 'acme', jobId: 'j1', createdAt: 1_000, channelId: 'ch' }
const CONTEXT = {
  job: JOB,
  reservation: readReservationItem({
    amount: 700_000,
    state: 'held',
    snapshot: { billing: 'per_request', prices: [], quantityMax: 1 },
    tier: { resolution: '720P', audio: true, videoInput: false },
    request: '{}',
    keyId: 'k1',
    operation: 'create-video-job',
    restarts: 0,
  }),
  resolution: { kind: 'settle', actual: microcredits(500_000), durationSeconds: '5' },
  nowMilliseconds: 2_000_000,
} as const
const DAY_SECONDS = 86_400

describe('closeReservation', () => {
  it('closes a reservation that is still held with the amount that was read', () => {
    expect(closeReservation(CONTEXT)).toMatchObject({
      Update: {
        ConditionExpression: '#state = :held AND amount = :amount',
        ExpressionAttributeValues: { ':state': 'settled', ':actual': 500_000n, ':amount': 700_000n },
      },
    })
  })

  it('lets the record expire a day after its last visible moment', () => {
    expect(closeReservation(CONTEXT)).toMatchObject({
      Update: { ExpressionAttributeValues: { ':ttl': 1_000 + JOB_RECORD_SECONDS + DAY_SECONDS } },
    })
  })
})

describe('endJob', () => {
  it('ends a job that is open, on the channel that was read, and as cancelled or not as it was read', () => {
    expect(endJob(CONTEXT)).toMatchObject({
      Update: {
        ConditionExpression: '#status IN (:from0) AND channelId = :channel AND attribute_not_exists(cancelledAt)',
        ExpressionAttributeValues: { ':status': 'succeeded', ':billed': 500_000n, ':channel': 'ch' },
      },
    })
  })

  it('keeps the cause of a release for operators', () => {
    const resolution = { kind: 'release', error: 'no', cause: 'a step threw X' } as const
    expect(endJob({ ...CONTEXT, resolution })).toMatchObject({
      Update: { ExpressionAttributeValues: { ':status': 'failed', ':error': 'no', ':cause': 'a step threw X' } },
    })
  })
})

describe('freeSlot', () => {
  it('frees the slot of a claimed job, and writes nothing for any other', () => {
    expect(freeSlot(JOB)).toMatchObject({ Update: { Key: { PK: 'CH#ch' } } })
    expect(freeSlot({ ...JOB, channelId: undefined })).toBeUndefined()
  })
})
