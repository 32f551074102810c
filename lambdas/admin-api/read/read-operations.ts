import { type AdminOperationOf, READ_ROUTES } from '#core/admin/routes.ts'
import { READS } from '#lambdas/admin/reads.ts'
import { serveRead } from '#lambdas/admin/serve-operation.ts'
import type { AdminOperation, ServedOperation } from '#middleware/admin-chain.ts'
import type { ReadContext } from './read-context.ts'

/** Every operation of the function that reads. */
export function readOperations(context: ReadContext): readonly ServedOperation[] {
  const serve: Record<AdminOperationOf<'read'>, AdminOperation> = {
    // Loaded when they are first asked for: no other operation reads receipts, events and progress of jobs.
    'get-video': async (event) => (await import('./videos.ts')).getVideo(event, context),
    'list-videos': async (event) => (await import('./videos.ts')).listVideos(event, context),
  }
  const rows = READ_ROUTES.map((row) => ({ ...row, function: 'read' as const, serve: serve[row.operation] }))
  const services = () => ({
    ...context,
    table: context.table(),
    tenants: context.summary,
    nowMilliseconds: context.now,
  })
  return [...rows, ...READS.map((operation) => serveRead(operation, services))]
}
