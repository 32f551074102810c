import { afterEach, describe, expect, it, vi } from 'vitest'
import { reportRefusedResult } from '#lambdas/pipeline/report-refused-result.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { videoJobRecord } from '../engines/video-jobs.ts'
import { captureLog } from '../middleware/api-exchange.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('reportRefusedResult', () => {
  it('counts the result, and logs its job and the reason as an error', () => {
    const { counted } = captureTelemetry()
    const log = captureLog()
    const job = videoJobRecord({ channelId: 'main' })
    reportRefusedResult(job, 'not a video')
    expect(counted()).toEqual(['result_refused'])
    const expected = { level: 'ERROR', message: 'result refused', jobId: job.jobId, reason: 'not a video' }
    expect(log.entries()).toContainEqual(expect.objectContaining(expected))
  })
})
