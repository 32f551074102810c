import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { InvalidRequestError } from '#core/errors.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import { listVideoJobs } from '#store/jobs/job-reader.ts'
import { openTable } from '#store/table/sdk-table.ts'

const dynamo = mockClient(DynamoDBDocumentClient)
const table = openTable({ name: 'table' })

/** One to see whether more follow, and some in place of deleted jobs. */
const FEW = 20

const NOW = 1_800_000_000

beforeEach(() => {
  dynamo.reset()
})

async function list(query: Record<string, string>): Promise<number[]> {
  await listVideoJobs(table, { tenantId: 'tenant', nowSeconds: NOW, ...parseListQuery(query) })
  return dynamo.commandCalls(QueryCommand).map(({ args: [{ input }] }) => input.Limit ?? Number.POSITIVE_INFINITY)
}

describe('the cost of a listing', () => {
  it.each([
    [{ limit: '1000000000' }, 100],
    [{ limit: '99999999999999999999' }, 100],
    [{ limit: '100', offset: '10000' }, 10_100],
    [{ limit: '-1', offset: '-1' }, 20],
  ])('is one query for %j, of the page, the skipped jobs and a small margin', async (query, asked) => {
    dynamo.on(QueryCommand).resolves({ Items: [] })
    const [items = Number.POSITIVE_INFINITY, ...more] = await list(query)
    expect(items).toBeLessThanOrEqual(asked + FEW)
    expect(more).toEqual([])
  })

  it('is zero for an offset above the limit', async () => {
    await expect(list({ offset: '1000000000000' })).rejects.toBeInstanceOf(InvalidRequestError)
    expect(dynamo.calls()).toHaveLength(0)
  })

  it('is a dozen queries for jobs behind thousands of deleted ones', async () => {
    const item = (age: number) => ({
      ...{
        PK: 'T#tenant',
        SK: `JOB#${String(9_999 - age)}`,
        status: 'failed',
        model: 'm',
        createdAt: NOW,
        expiresAt: NOW,
      },
      ...{ videoKey: 'v/x', estimate: 1, ...(age < 5_000 ? { deleted: true } : {}) },
    })
    dynamo.on(QueryCommand).callsFake(({ Limit = 1, ExclusiveStartKey }) => {
      const first = Number(ExclusiveStartKey?.age ?? 0)
      const Items = Array.from({ length: Math.min(Limit, 5_010 - first) }, (_, index) => item(first + index))
      const next = first + Items.length
      return { Items, ...(next < 5_010 ? { LastEvaluatedKey: { age: next } } : {}) }
    })
    const options = { tenantId: 'tenant', limit: 1, offset: 0, after: undefined, nowSeconds: NOW }
    const { jobs, hasMore } = await listVideoJobs(table, options)
    expect({ found: jobs.map(({ jobId }) => jobId), hasMore }).toEqual({ found: ['4999'], hasMore: true })
    expect(dynamo.calls().length).toBeLessThanOrEqual(13)
  })

  it('is bounded for a tenant with only deleted jobs and an endless table', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [], LastEvaluatedKey: { PK: 'p', SK: 's' } })
    await expect(list({ limit: '100' })).rejects.toThrow('requests did not fill a page')
    expect(dynamo.calls().length).toBeLessThanOrEqual(200)
  })
})
