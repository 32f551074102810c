import middy from '@middy/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceUnavailableError } from '#core/errors.ts'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { countedFailures } from '#middleware/counted-failures.ts'
import { errorResponse } from '#middleware/error-response.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { apiEvent, captureLog, context } from './api-exchange.ts'

beforeEach(() => {
  captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** What is counted for a handler that does this. */
async function countedFor(handle: () => Promise<ApiResult>): Promise<string[]> {
  const telemetry = captureTelemetry()
  telemetry.reset()
  const chain = middy<ApiEvent, ApiResult>().use(countedFailures('console_failed')).use(errorResponse())
  await chain.handler(handle)(apiEvent(), context)
  return telemetry.counted()
}

describe('countedFailures', () => {
  it('counts an internal error, thrown or returned', async () => {
    expect(await countedFor(() => Promise.reject(new TypeError('unexpected')))).toEqual(['console_failed'])
    expect(await countedFor(async () => ({ statusCode: 500, body: '' }))).toEqual(['console_failed'])
  })

  it('counts no success and no failure of something else', async () => {
    expect(await countedFor(async () => ({ statusCode: 200, body: '' }))).toEqual([])
    expect(await countedFor(() => Promise.reject(new ServiceUnavailableError()))).toEqual([])
  })
})
