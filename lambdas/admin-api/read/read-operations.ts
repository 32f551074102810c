import { type AdminOperationOf, READ_ROUTES } from '#core/admin/routes.ts'
import { listAudit } from '#lambdas/admin/audit.ts'
import { CHANNEL_READS } from '#lambdas/admin/channels.ts'
import { KEY_READS } from '#lambdas/admin/keys.ts'
import { LEDGER_READS } from '#lambdas/admin/ledger.ts'
import { serveRead } from '#lambdas/admin/serve-operation.ts'
import { TENANT_READS } from '#lambdas/admin/tenants.ts'
import type { AdminOperation, ServedOperation } from '#middleware/admin-chain.ts'
import { getOverview, getUsage } from './overview.ts'
import type { ReadContext } from './read-context.ts'
import { getVideo, listCallbackAttempts, listVideos } from './videos.ts'

/** Every operation of the function that reads. */
export function readOperations(context: ReadContext): readonly ServedOperation[] {
  const serve: Record<AdminOperationOf<'read'>, AdminOperation> = {
    'get-overview': (event) => getOverview(event, context),
    'get-usage': (event) => getUsage(event, context),
    'get-video': (event) => getVideo(event, context),
    'list-callback-attempts': (event) => listCallbackAttempts(event, context),
    'list-videos': (event) => listVideos(event, context),
  }
  const rows = READ_ROUTES.map((row) => ({ ...row, function: 'read' as const, serve: serve[row.operation] }))
  const services = () => ({
    ...context,
    table: context.table(),
    tenants: context.summary,
    nowMilliseconds: context.now,
  })
  return [
    ...rows,
    ...[...TENANT_READS, ...KEY_READS, ...CHANNEL_READS, ...LEDGER_READS, listAudit].map((operation) =>
      serveRead(operation, services),
    ),
  ]
}
