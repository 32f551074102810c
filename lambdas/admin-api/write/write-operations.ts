import { AdminConflictError, AdminNotFoundError } from '#core/admin/errors.ts'
import type { AdminOperationOf } from '#core/admin/routes.ts'
import type { HttpError } from '#core/errors.ts'
import type { AdminOperation } from '#middleware/admin-chain.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import { changeKey, createKey, createPlaygroundKey, revokeKey, rotateKey } from './keys.ts'
import { changeChannel, changeModel, clearChannel, clearModel } from './switches.ts'
import {
  adjustCredits,
  changeTenant,
  createTenant,
  grantCredits,
  resumeTenant,
  revealCallbackSecret,
  suspendTenant,
} from './tenants.ts'
import type { WriteContext, WriteOperation } from './write-context.ts'

const OPERATIONS = {
  'create-tenant': createTenant,
  'change-tenant': changeTenant,
  'grant-credits': grantCredits,
  'adjust-credits': adjustCredits,
  'suspend-tenant': suspendTenant,
  'resume-tenant': resumeTenant,
  'reveal-callback-secret': revealCallbackSecret,
  'create-key': createKey,
  'change-key': changeKey,
  'rotate-key': rotateKey,
  'revoke-key': revokeKey,
  // Loaded when they are first asked for: they bring clients of Step Functions, the bucket and receivers, which nothing else needs.
  'cancel-video': async (...request) => (await import('./videos.ts')).cancelVideo(...request),
  'redrive-video': async (...request) => (await import('./videos.ts')).redriveVideo(...request),
  'resend-callback': async (...request) => (await import('./videos.ts')).resendCallback(...request),
  'delete-video': async (...request) => (await import('./videos.ts')).deleteVideo(...request),
  'change-channel': changeChannel,
  'clear-channel': clearChannel,
  'change-model': changeModel,
  'clear-model': clearModel,
  'create-playground-key': createPlaygroundKey,
} as const satisfies Readonly<Record<AdminOperationOf<'write'>, WriteOperation>>

/** Every operation that changes something; what a store refuses becomes a 404 or a 409. */
export function writeOperations(context: WriteContext): Readonly<Record<keyof typeof OPERATIONS, AdminOperation>> {
  const served = (serve: WriteOperation): AdminOperation => {
    return async (event) => {
      try {
        return await serve(event, context)
      } catch (error) {
        throw error instanceof StoreRefusal ? responseTo(error) : error
      }
    }
  }
  return Object.fromEntries(Object.entries(OPERATIONS).map(([name, serve]) => [name, served(serve)])) as Readonly<
    Record<keyof typeof OPERATIONS, AdminOperation>
  >
}

function responseTo(refusal: StoreRefusal): HttpError {
  const { code, message } = refusal
  switch (code) {
    case 'not_found':
      return new AdminNotFoundError(message, { cause: refusal })
    case 'id_taken':
      return new AdminConflictError(message, code, { param: 'id', cause: refusal })
    case 'below_zero':
      return new AdminConflictError(`${message}; \`allow_debt\` permits this`, code, {
        param: 'allow_debt',
        cause: refusal,
      })
    default:
      return new AdminConflictError(message, code, { cause: refusal })
  }
}
