import { InvalidRequestError } from '#core/errors.ts'
import { TenantTooLargeError, verifyBounded } from '#lambdas/admin/ledger/verify-bounded.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { ReadContext } from './read-context.ts'
import { tenantOf } from './tenant-of-request.ts'

/** GET /admin/v1/ledger/verification: reads the whole tenant, up to a bound, because somebody asked for it. */
export async function verifyTenantLedger(event: ApiEvent, context: ReadContext): Promise<AdminResponse> {
  const { now, verifications } = context
  const end = verifications.begin(sessionOf(event).id, now())
  try {
    return await verify(tenantOf(event).id, context)
  } finally {
    end()
  }
}

/** @throws InvalidRequestError for a tenant that is too large. */
async function verify(tenant: string, { table, now }: ReadContext): Promise<AdminResponse> {
  try {
    const { broken, rows } = await verifyBounded(table(), tenant)
    return {
      body: {
        object: 'ledger.verification',
        tenant,
        ok: broken.length === 0,
        broken,
        checked_at: Math.trunc(now() / 1000),
        rows,
      },
    }
  } catch (error) {
    if (error instanceof TenantTooLargeError) {
      const message = `the tenant is too large to be verified here: npm run admin -- ledger verify --tenant ${tenant}`
      throw new InvalidRequestError([{ path: 'tenant', message }])
    }
    throw error
  }
}
