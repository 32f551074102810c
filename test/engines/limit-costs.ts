import { changeTenant } from '#store/tenants/change-tenant.ts'
import { expectStatus, type Recorder } from './expect-status.ts'
import type { MeteredService } from './metered-service.ts'
import { TESTER } from './tester.ts'

/** A key that may send one request at a time, and a tenant that may have no open job. */
export async function recordLimits(
  service: MeteredService,
  { body, record }: { readonly body: object; readonly record: Recorder },
): Promise<void> {
  const limited = await service.openTenant('limited', '1', 6)
  await record('create, key with a rate, invalid request: 400', () =>
    expectStatus(400, service.request('POST', '', { ...limited, body: {} })),
  )
  await record('create, key above its rate: 429', () =>
    expectStatus(429, service.request('POST', '', { ...limited, body })),
  )
  const full = await service.openTenant('full', '1000')
  await changeTenant(service.table, { tenantId: full.tenantId, settings: { openJobsMax: 0 }, actor: TESTER })
  await record('create, too many open jobs: 429', () =>
    expectStatus(429, service.request('POST', '', { ...full, body })),
  )
}
