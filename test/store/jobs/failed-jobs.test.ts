import { beforeEach, describe, expect, it } from '@jest/globals'
import { countFailedJob, failedJobsKeys, failedJobsOf, readFailedJobs } from '#store/jobs/failed-jobs.ts'
import type { Table } from '#store/table/table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'

const engine = useTestTable()
let table: Table
beforeEach(async () => {
  table = await engine.fresh()
})

const NOW = Date.parse('2026-11-22T12:05:00Z')
const [ELEVEN, TEN] = [Date.parse('2026-11-22T11:59:59Z'), Date.parse('2026-11-22T10:59:59Z')]
const fail = (tenantId: string, jobId: string, at = NOW) => countFailedJob(table, { tenantId, jobId }, at)
const ofTenant = async (tenantId: string) => failedJobsOf(await table.readItems(failedJobsKeys(tenantId, NOW)), NOW)

describe('countFailedJob', () => {
  it('counts by tenant, and of this hour and the one before alone', async () => {
    await fail('acme', 'j1', TEN)
    await fail('acme', 'j2', ELEVEN)
    await fail('acme', 'j3')
    await fail('acme', 'j4')
    await fail('other', 'j5', TEN)
    const expected = { count: 3, since: Date.parse('2026-11-22T11:00:00Z'), latestJobId: 'j4' }
    expect(await ofTenant('acme')).toEqual(expected)
    expect(await ofTenant('other')).toBeUndefined()
    expect([...(await readFailedJobs(table, NOW))]).toEqual([['acme', expected]])
  })

  it('names the latest job of the hour before while none has failed in this one', async () => {
    await fail('acme', 'j1', ELEVEN)
    expect(await ofTenant('acme')).toMatchObject({ count: 1, latestJobId: 'j1' })
  })

  it('has no key for an id that is too long to have failed jobs', () => {
    expect([failedJobsKeys('t'.repeat(1_020), NOW), failedJobsKeys('t', NOW).length]).toEqual([[], 2])
  })
})

describe('readFailedJobs', () => {
  it('asks for two pages at most', async () => {
    let queries = 0
    const queryPage: Table['queryPage'] = async () => {
      queries += 1
      return { items: [], nextKey: { PK: 'more' } }
    }
    expect([await readFailedJobs({ queryPage }, NOW), queries]).toEqual([new Map(), 2])
  })
})
