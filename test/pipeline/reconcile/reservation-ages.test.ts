import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { ReservationAges } from '#lambdas/pipeline/reconcile/reservation-ages.ts'
import type { JobKey } from '#store/due-index.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'

const NOW = 1_795_000_000_000
const jobOf = (ageSeconds: number) => ({ tenantId: 't', jobId: uuidv7({ msecs: NOW - ageSeconds * 1000 }) })

let metrics: ReturnType<typeof captureMetrics>
beforeAll(() => {
  metrics = captureMetrics()
})

/** What a run that came by these measures, and what it passed on. */
async function measured(items: readonly JobKey[], requestAges: readonly number[] = []) {
  async function* list() {
    yield* items
  }
  const count = metrics.emitted().length
  const ages = new ReservationAges(NOW)
  const passed: JobKey[] = []
  for await (const item of ages.watch(list())) {
    passed.push(item)
  }
  for (const age of requestAges) {
    ages.addRequest(NOW - age * 1000)
  }
  ages.measure()
  expect(passed).toEqual(items)
  return Object.fromEntries(
    metrics
      .emitted()
      .slice(count)
      .map(({ name, value }) => [name, value]),
  )
}

describe('the ages of open reservations', () => {
  it('are those of the oldest job, by its id, and of the oldest request of a hold', async () => {
    expect(await measured([jobOf(60), jobOf(7200), jobOf(5)], [961, 960])).toEqual({
      oldest_open_job_seconds: 7200,
      oldest_open_request_seconds: 961,
    })
  })

  it('are measured of what a run came by, and of nothing else', async () => {
    expect(await measured([jobOf(60)])).toEqual({ oldest_open_job_seconds: 60 })
    expect(await measured([])).toEqual({})
  })

  it('are never below nothing, though clocks differ', async () => {
    expect(await measured([jobOf(-3)])).toEqual({ oldest_open_job_seconds: 0 })
  })
})
