import { describe, expect, it } from 'vitest'
import { putIdempotencyKey, putJob, putReservation, putReserveRow } from '#adapters/store/money/new-video-job.ts'
import { newJob } from '../../../engines/video-jobs.ts'

const JOB = newJob({ tenantId: 'acme', keyDigest: 'abcdefghij', webhookSecret: '' }, { createdAt: 1_000 })
const NONE = { key: undefined, tenant: undefined }

describe('putReservation', () => {
  it('keeps what a settlement needs: the key, the operation, and the budgets in which the job counts', () => {
    const known = {
      key: { id: 'k1', period: { kind: 'day', id: '2026-11-30' } },
      tenant: { kind: 'total', id: 'total' },
    } as const
    expect(putReservation(JOB, known)).toMatchObject({
      Put: {
        Item: {
          keyId: 'abcdefgh',
          operation: 'create-video-job',
          budgetId: 'k1',
          budgetPeriod: 'day',
          tenantBudgetPeriod: 'total',
        },
      },
    })
  })

  it('names no budget where none counts', () => {
    expect(putReservation(JOB, NONE)).toMatchObject({
      Put: { Item: { budgetId: undefined, budgetPeriod: undefined, tenantBudgetPeriod: undefined } },
    })
  })

  it('is looked at a minute after its creation', () => {
    expect(putReservation(JOB, NONE)).toMatchObject({ Put: { Item: { GSI1SK: '000000001060000' } } })
  })
})

describe('putJob', () => {
  it('is queued, and new', () => {
    const item = { status: 'queued', model: JOB.model, createdAt: 1_000, estimate: JOB.estimate }
    expect(putJob(JOB)).toMatchObject({ Put: { Item: item, ConditionExpression: 'attribute_not_exists(PK)' } })
  })
})

describe('putReserveRow', () => {
  it('says what the credits were reserved for', () => {
    const about = { model: JOB.model, operation: 'create-video-job', keyId: 'abcdefgh', billing: 'per_second' }
    expect(putReserveRow(JOB)).toMatchObject({ Put: { Item: { kind: 'reserve', at: 1_000_000, ...about } } })
  })
})

describe('putIdempotencyKey', () => {
  it('takes a key that is free or has expired by the creation of the job', () => {
    expect(putIdempotencyKey(JOB, { digest: 'd', bodyHash: 'b', expiresAt: 2_000 })).toMatchObject({
      Put: {
        Item: { PK: 'I#acme#d', bodyHash: 'b', job: JOB.jobId, ttl: 2_000 },
        ConditionExpression: 'attribute_not_exists(PK) OR #ttl <= :now',
        ExpressionAttributeValues: { ':now': 1_000 },
      },
    })
  })
})
