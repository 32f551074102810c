import type { AdminOperationOf } from '#core/admin/routes.ts'
import type { AdminOperation } from '#middleware/admin-chain.ts'
import { listAudit } from './audit.ts'
import { getChannels } from './channels.ts'
import { listLedger, verifyTenantLedger } from './ledger.ts'
import { getOverview, getUsage } from './overview.ts'
import type { ReadContext } from './read-context.ts'
import { getTenantDetail, listKeys, listTenants } from './tenants.ts'
import { getVideo, listCallbackAttempts, listVideos } from './videos.ts'

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
