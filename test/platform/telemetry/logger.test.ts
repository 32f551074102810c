import { describe, expect, it } from '@jest/globals'
import { jobFacts } from '#platform/telemetry/logger.ts'

describe('jobFacts', () => {
  const job = { jobId: 'job-1', tenantId: 'acme' }

  it('names the job, its tenant, its request and its channel, and nothing else of it', () => {
    const full = { ...job, requestId: 'r-1', channelId: 'main', prompt: 'secret words' }
    expect(jobFacts(full)).toStrictEqual({ ...job, requestId: 'r-1', channelId: 'main' })
  })

  it('leaves out what the job does not have', () => {
    expect(jobFacts({ ...job, requestId: undefined, channelId: undefined })).toStrictEqual(job)
  })
})
