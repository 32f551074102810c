import { describe, expect, it } from 'vitest'
import { jobKeyOf, pathId } from '#lambdas/admin-api/write/named-target.ts'
import { apiEvent } from '../../middleware/api-exchange.ts'

const JOB = '01980000-0000-7000-8000-000000000000'
const event = (job_id: string, tenant?: string) =>
  apiEvent({ pathParameters: { job_id }, queryStringParameters: tenant === undefined ? null : { tenant } })

describe('named-target', () => {
  it.each(['', 'x'.repeat(201), '\ud800'])('an id that no table holds does not exist: %j', (id) => {
    expect(() => pathId(event(id), 'job_id', 'video job')).toThrow('no video job has this id')
  })

  it('a job is named by its id and its tenant', () => {
    expect(jobKeyOf(event(JOB, 'acme'))).toEqual({ tenantId: 'acme', jobId: JOB })
    for (const tenant of [undefined, '', 'x'.repeat(2_000)]) {
      expect(() => jobKeyOf(event(JOB, tenant))).toThrow('invalid request')
    }
    for (const id of ['nothing', JOB.toUpperCase().replace('0198', '019A'), `${JOB}#1`, '../x']) {
      expect(() => jobKeyOf(event(id, 'acme'))).toThrow('video job not found')
    }
  })
})
