import type { Session } from '#core/admin/session.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import { type ApiEvent, MiddlewareOrderError } from './api-event.ts'

/** What an operation of the admin API responds. */
export type AdminResponse = {
  /** Left out for the success of the row; an error is thrown, unless people see its page. */
  readonly status?: number
  /** An object is sent as JSON, a string as it is; left out for no body. */
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** `Set-Cookie` headers. */
  readonly cookies?: readonly string[]
}

/** The signed-in user. @throws MiddlewareOrderError for an operation that anybody may call. */
export function sessionOf({ session }: ApiEvent): Session {
  if (session === undefined) {
    throw new MiddlewareOrderError('an operation without a session has no signed-in user')
  }
  return session
}

/** The signed-in user, for the audit log. @throws MiddlewareOrderError as {@link sessionOf}. */
export function actorOf(event: ApiEvent): Actor {
  const { actor, role } = sessionOf(event)
  return { name: actor, role, requestId: event.requestContext.requestId }
}
