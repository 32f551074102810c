import type { AdminOperationOf } from '#core/admin/routes.ts'
import type { AdminOperation } from '#middleware/admin-chain.ts'
import { getChannels } from './get-channels.ts'
import { getOverview } from './get-overview.ts'
import { getTenantDetail } from './get-tenant.ts'
import { getUsage } from './get-usage.ts'
import { getVideo } from './get-video.ts'
import { listAudit } from './list-audit.ts'
import { listCallbackAttempts } from './list-callback-attempts.ts'
import { listKeys } from './list-keys.ts'
import { listLedger } from './list-ledger.ts'
import { listTenants } from './list-tenants.ts'
import { listVideos } from './list-videos.ts'
import type { ReadContext } from './read-context.ts'
import { verifyTenantLedger } from './verify-ledger.ts'

/** Every operation of the function that reads. */
export function readOperations(context: ReadContext): Record<AdminOperationOf<'read'>, AdminOperation> {
  return {
    'get-channels': (event) => getChannels(event, context),
    'get-overview': (event) => getOverview(event, context),
    'get-tenant': (event) => getTenantDetail(event, context),
    'get-usage': (event) => getUsage(event, context),
    'get-video': (event) => getVideo(event, context),
    'list-audit': (event) => listAudit(event, context),
    'list-callback-attempts': (event) => listCallbackAttempts(event, context),
    'list-keys': (event) => listKeys(event, context),
    'list-ledger': (event) => listLedger(event, context),
    'list-tenants': (event) => listTenants(event, context),
    'list-videos': (event) => listVideos(event, context),
    'verify-ledger': (event) => verifyTenantLedger(event, context),
  }
}
