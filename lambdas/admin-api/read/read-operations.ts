import { type AdminOperationOf, READ_ROUTES } from '#core/admin/routes.ts'
import { listAudit } from '#lambdas/admin/audit.ts'
import { listCallbackAttempts } from '#lambdas/admin/callback-attempts.ts'
import { CHANNEL_READS } from '#lambdas/admin/channels.ts'
import { KEY_READS } from '#lambdas/admin/keys.ts'
import { LEDGER_READS } from '#lambdas/admin/ledger.ts'
import { getOverview } from '#lambdas/admin/overview.ts'
import { listRequests } from '#lambdas/admin/requests.ts'
import { serveRead } from '#lambdas/admin/serve-operation.ts'
import { TENANT_READS } from '#lambdas/admin/tenants.ts'
import { getUsage } from '#lambdas/admin/usage.ts'
import type { AdminOperation, ServedOperation } from '#middleware/admin-chain.ts'
import type { ReadContext } from './read-context.ts'
import { getVideo, listVideos } from './videos.ts'

/** Every operation of the function that reads. */
export function readOperations(context: ReadContext): readonly ServedOperation[] {
  const serve: Record<AdminOperationOf<'read'>, AdminOperation> = {
    'get-video': (event) => getVideo(event, context),
    'list-videos': (event) => listVideos(event, context),
  }
  const rows = READ_ROUTES.map((row) => ({ ...row, function: 'read' as const, serve: serve[row.operation] }))
  const services = () => ({
    ...context,
    table: context.table(),
    tenants: context.summary,
    nowMilliseconds: context.now,
  })
  const defined = [
    ...TENANT_READS,
    ...KEY_READS,
    ...CHANNEL_READS,
    ...LEDGER_READS,
    listAudit,
    listRequests,
    listCallbackAttempts,
    getOverview,
    getUsage,
  ]
  return [...rows, ...defined.map((operation) => serveRead(operation, services))]
}
