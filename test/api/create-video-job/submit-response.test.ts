import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { repeatedResponse, SubmitRhythm, submitResponse } from '#lambdas/api/create-video-job/create-video-job.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const JOB = { tenantId: 'tenant', jobId: 'job', model: 'model' }
const ITEM = {
  ...{ PK: 'T#tenant', SK: 'JOB#job', model: 'model', status: 'queued' },
  ...{ createdAt: 1, expiresAt: 2, videoKey: 'v/x', estimate: 1 },
}

const dynamo = mockClient(DynamoDBDocumentClient)
const table = openTable({ name: 'table' })

let now: number
let rhythm: SubmitRhythm
beforeEach(() => {
  dynamo.reset()
  now = 0
  rhythm = new SubmitRhythm()
})

const context = () => ({
  table,
  openBucket: () => Promise.reject(new Error('no bucket')),
  catalogue: testCatalogue(),
  nowMilliseconds: () => now,
  pause: async (milliseconds: number) => {
    now += milliseconds
  },
  newJobId: () => 'job',
  randomHex: () => '00',
  submitRhythm: rhythm,
})

/** Records the upstream's reply this long after the create. */
function recordReplyAfter(milliseconds: number): void {
  const createdAt = now
  dynamo.on(GetCommand).callsFake(() => ({
    Item: now - createdAt < milliseconds ? ITEM : { ...ITEM, status: 'processing', submitText: '{"task":1}' },
  }))
}

type Waits = { readonly reads: number; readonly late: number; readonly first: number }

/** Creates jobs one after the other and returns what each of them took. */
async function createAt(repliesAfter: number, creates: number): Promise<Waits[]> {
  const waits: Waits[] = []
  for (let create = 0; create < creates; create += 1) {
    dynamo.reset()
    const createdAt = now
    const first = rhythm.firstReadMilliseconds(JOB.model)
    recordReplyAfter(repliesAfter)
    await submitResponse(JOB, context())
    waits.push({ reads: dynamo.calls().length, late: now - createdAt - repliesAfter, first })
  }
  return waits
}

function mean(numbers: number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}

describe('submitResponse', () => {
  it('returns the recorded reply, read after 40 ms at the earliest before anything was learnt', async () => {
    recordReplyAfter(0)
    expect(JSON.parse(await submitResponse(JOB, context()))).toMatchObject({ task: 1, status: 'queued' })
    expect({ now, reads: dynamo.calls().length }).toEqual({ now: 40, reads: 1 })
  })

  it('returns the injected fields alone when the reply is not recorded in time', async () => {
    recordReplyAfter(Number.POSITIVE_INFINITY)
    expect(JSON.parse(await submitResponse(JOB, context()))).not.toHaveProperty('task')
    expect(now).toBe(context().catalogue.config.submit_wait_seconds * 1000)
  })

  it.each([
    [60, 2],
    [150, 2],
    [400, 2.2],
    [900, 4.5],
    [2_000, 7],
  ])('needs on average at most, for an upstream that takes %s ms, %s reads, and is hardly late', async (ms, most) => {
    await createAt(ms, 20)
    const waits = await createAt(ms, 100)
    expect(mean(waits.map(({ reads }) => reads))).toBeLessThanOrEqual(most)
    expect(mean(waits.map(({ late }) => late))).toBeLessThan(Math.max(25, ms / 4))
  })

  it('reads after 15 ms at the earliest when upstreams reply at once', async () => {
    const waits = await createAt(0, 30)
    expect(waits.at(-1)).toEqual({ reads: 1, late: 15, first: 15 })
  })

  it('reads within half a second, however long earlier submits took', async () => {
    const waits = await createAt(9_000, 30)
    expect(Math.max(...waits.map(({ first }) => first))).toBe(500)
  })

  it('reads early again after a slow period: six fast submits are enough', async () => {
    await createAt(9_000, 30)
    await createAt(0, 6)
    expect(rhythm.firstReadMilliseconds(JOB.model)).toBeLessThan(60)
  })

  it('reads hardly later after one slow submit', async () => {
    await createAt(60, 20)
    const before = rhythm.firstReadMilliseconds(JOB.model)
    await createAt(9_000, 1)
    expect(rhythm.firstReadMilliseconds(JOB.model)).toBeLessThanOrEqual(1.5 * before)
  })

  it('learns for each model separately, because models have their own upstreams', async () => {
    await createAt(900, 20)
    expect(rhythm.firstReadMilliseconds('another')).toBe(40)
  })

  it('learns nothing without a reply', async () => {
    recordReplyAfter(Number.POSITIVE_INFINITY)
    await submitResponse(JOB, context())
    expect(rhythm.firstReadMilliseconds(JOB.model)).toBe(40)
  })
})

describe('repeatedResponse', () => {
  it('returns at once the reply on the record that was already read', async () => {
    recordReplyAfter(0)
    const existing = await getVideoJob(table, 'tenant', 'job')
    dynamo.reset()
    expect(existing && JSON.parse(await repeatedResponse(existing, context()))).toMatchObject({
      task: 1,
      status: 'queued',
    })
    expect({ now, calls: dynamo.calls() }).toEqual({ now: 0, calls: [] })
  })

  it('waits for the submit as the first POST did, and learns nothing', async () => {
    recordReplyAfter(30)
    const existing = await getVideoJob(table, 'tenant', 'job')
    expect(existing && JSON.parse(await repeatedResponse(existing, context()))).toMatchObject({ task: 1 })
    expect({ now, first: rhythm.firstReadMilliseconds(JOB.model) }).toEqual({ now: 40, first: 40 })
  })
})
