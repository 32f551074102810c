import { describe, expect, it } from '@jest/globals'
import { BudgetExceededError } from '#core/budgets.ts'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { putIdempotencyKey } from '#store/job-ledger/idempotency-keys.ts'
import { readReservationItem } from '#store/job-ledger/reservation.ts'
import {
  explainBalance,
  explainKeyBudget,
  foreseeRefusal,
  isSuspended,
  putJob,
  putReservation,
  putReserveRow,
} from '#store/job-ledger/reserve-quota.ts'
import {
  closeReservation,
  countSettlement,
  endJob,
  freeSlot,
  type JobResolution,
  putResolutionRow,
  type Resolution,
} from '#store/job-ledger/resolve-reservation.ts'
import { newJob, videoJobRecord } from '../../engines/video-jobs.ts'

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
    for (const attribute of ['budgetId', 'budgetPeriod', 'tenantBudgetPeriod']) {
      expect(putReservation(JOB, NONE)).not.toHaveProperty(`Put.Item.${attribute}`, expect.anything())
    }
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

const WANTED = { estimate: microcredits(10), createdAt: 1_000 }
const BALANCE = { state: 'active', available: 10, openJobs: 0 }

describe('foreseeRefusal', () => {
  it.each([
    ['exactly the funds of the estimate', BALANCE],
    ['one open job fewer than its limit', { ...BALANCE, openJobs: 1, openJobsMax: 2 }],
    ['open jobs and no limit', { ...BALANCE, openJobs: 1_000 }],
  ])('refuses nothing for a balance with %s', (_, balance) => {
    expect(foreseeRefusal(WANTED, { balance, keyBudget: undefined })).toBeUndefined()
  })

  it.each([
    ['no balance', undefined, InsufficientQuotaError],
    ['too few funds', { ...BALANCE, available: 9 }, InsufficientQuotaError],
    ['as many open jobs as its limit', { ...BALANCE, openJobs: 2, openJobsMax: 2 }, TooManyOpenJobsError],
    ['a limit of no open jobs', { ...BALANCE, openJobsMax: 0 }, TooManyOpenJobsError],
    ['a suspended tenant', { ...BALANCE, state: 'suspended' }, InvalidApiKeyError],
    ['too few funds and too many jobs', { ...BALANCE, available: 9, openJobsMax: 0 }, InsufficientQuotaError],
    ['a suspended tenant without funds', { ...BALANCE, state: 'suspended', available: 0 }, InvalidApiKeyError],
  ])('foresees the refusal of the transaction: %s', (_, balance, expected) => {
    expect(foreseeRefusal(WANTED, { balance, keyBudget: undefined })).toBeInstanceOf(expected)
    expect(explainBalance(WANTED, balance)).toBeInstanceOf(expected)
  })

  it('compares a balance beyond the exact range of a double exactly', () => {
    const available = 9_007_199_254_740_993n
    expect(
      foreseeRefusal(
        { ...WANTED, estimate: microcredits(available) },
        { balance: { ...BALANCE, available }, keyBudget: undefined },
      ),
    ).toBeUndefined()
    expect(
      foreseeRefusal(
        { ...WANTED, estimate: microcredits(available + 1n) },
        { balance: { ...BALANCE, available }, keyBudget: undefined },
      ),
    ).toBeInstanceOf(InsufficientQuotaError)
  })

  const room = (left: number, periodId = '1970-01-01') => ({ period: 'day', periodId, amount: 20, spent: 0, left })
  const keyBudget = (left: number) => ({ ...room(left), held: 0, free: 20 })
  const tenantBudget = (left: number) => ({
    ...BALANCE,
    held: 0,
    ...Object.fromEntries(
      Object.entries({ ...room(left), free: 20 }).map(([name, value]) => [
        `budget${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        value,
      ]),
    ),
  })

  it('refuses nothing for budgets with exactly the estimate left', () => {
    expect(foreseeRefusal(WANTED, { balance: tenantBudget(10), keyBudget: keyBudget(10) })).toBeUndefined()
  })

  it('judges a period that has ended by what a new one has left', () => {
    const later = { ...WANTED, createdAt: 2 * 24 * 60 * 60 }
    expect(foreseeRefusal(later, { balance: tenantBudget(0), keyBudget: keyBudget(0) })).toBeUndefined()
  })

  it('judges the budget of the key before that of the tenant, and both before funds', () => {
    const poor = { ...tenantBudget(9), available: 0 }
    const of = (keyLeft: number, balance: object) =>
      (foreseeRefusal(WANTED, { balance: { ...balance }, keyBudget: keyBudget(keyLeft) }) as BudgetExceededError)
        .shortfall
    expect(of(9, poor)).toMatchObject({ of: 'api key', needed: 10n, left: 9n })
    expect(of(10, poor)).toMatchObject({ of: 'tenant', needed: 10n, left: 9n })
    expect(explainBalance(WANTED, poor)).toBeInstanceOf(BudgetExceededError)
    expect(explainBalance(WANTED, { ...tenantBudget(10), available: 0 })).toBeInstanceOf(InsufficientQuotaError)
  })

  it('refuses a suspended tenant before budgets are judged', () => {
    const balance = { ...BALANCE, state: 'suspended' }
    expect(foreseeRefusal(WANTED, { balance, keyBudget: keyBudget(0) })).toBeInstanceOf(InvalidApiKeyError)
    expect(isSuspended(balance)).toBe(true)
  })

  it('refuses without amounts where a budget is missing from the table', () => {
    expect(explainKeyBudget(WANTED, undefined)).toMatchObject({ name: 'BudgetExceededError', shortfall: undefined })
  })
})

describe('writes of a resolution:', () => {
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
})

describe('writes of an ended job:', () => {
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
          ConditionExpression: '#state = :held AND #amount = :was_amount',
          ExpressionAttributeValues: { ':state': 'settled', ':actual': 500_000n, ':was_amount': 700_000n },
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
          ConditionExpression:
            '#status IN (:from0) AND #channelId = :was_channelId AND attribute_not_exists(cancelledAt)',
          ExpressionAttributeValues: { ':status': 'succeeded', ':billed': 500_000n, ':was_channelId': 'ch' },
        },
      })
    })

    it('keeps the cause of a release for operators', () => {
      const resolution = { kind: 'release', error: 'no', cause: 'a step threw X' } as const
      expect(endJob({ ...CONTEXT, resolution })).toMatchObject({
        Update: {
          ExpressionAttributeValues: { ':status': 'failed', ':error': 'no', ':failureCause': 'a step threw X' },
        },
      })
    })
  })

  describe('freeSlot', () => {
    it('frees the slot of a claimed job, and writes nothing for any other', () => {
      expect(freeSlot(JOB)).toMatchObject({ Update: { Key: { PK: 'CH#ch' } } })
      expect(freeSlot({ ...JOB, channelId: undefined })).toBeUndefined()
    })
  })
})
