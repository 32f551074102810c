import { type AdminOperationOf, WRITE_ROUTES } from '#core/admin/routes.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { WriteServices } from '#lambdas/admin/operation.ts'
import { responseTo, serveWrite } from '#lambdas/admin/serve-operation.ts'
import { WRITES } from '#lambdas/admin/writes.ts'
import type { ServedOperation } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import type { WriteContext, WriteOperation } from './write-context.ts'

const OPERATIONS = {
  // Loaded when they are first asked for: they bring clients of Step Functions, the bucket and receivers, which nothing else needs.
  'cancel-video': async (...request) => (await import('./videos.ts')).cancelVideo(...request),
  'redrive-video': async (...request) => (await import('./videos.ts')).redriveVideo(...request),
  'resend-callback': async (...request) => (await import('./videos.ts')).resendCallback(...request),
  'delete-video': async (...request) => (await import('./videos.ts')).deleteVideo(...request),
} as const satisfies Readonly<Record<AdminOperationOf<'write'>, WriteOperation>>

/** Every operation that changes something; what a store refuses becomes a 404 or a 409. */
export function writeOperations(context: WriteContext): readonly ServedOperation[] {
  const rows = WRITE_ROUTES.map((row) => ({
    ...row,
    function: 'write' as const,
    serve: async (event: ApiEvent) => {
      try {
        return await OPERATIONS[row.operation](event, context)
      } catch (error) {
        throw error instanceof StoreRefusal ? responseTo(error) : error
      }
    },
  }))
  const services = () => ({
    ...context,
    config: () => context.openCatalogue().config,
    checkModels: requireKnownModels(context),
  })
  return [...rows, ...WRITES.map((operation) => serveWrite(operation, services))]
}

/** Refuses models that the configuration does not have, but for those that a key has already. */
function requireKnownModels({ openCatalogue }: WriteContext): WriteServices['checkModels'] {
  return async (models, kept = async () => []) => {
    const configured = openCatalogue().config.models.map(({ id }) => id)
    const known = new Set(models ? [...configured, ...(await kept())] : [])
    for (const [index, model] of (models ?? []).entries()) {
      if (!known.has(model)) {
        const message = 'the configuration has no such model: `GET /admin/v1/models` lists them'
        throw new InvalidRequestError([{ path: `models.${index}`, message }])
      }
    }
  }
}
