import type * as z from 'zod'
import type { Session } from './session.ts'
import type { sessionListResponse, sessionResponse } from './session-response.ts'

/** A session as its user sees it. @param pageSecret in the response to a sign-in alone. */
export function sessionView(session: Session, pageSecret?: string): z.infer<typeof sessionResponse> {
  const shown = { object: 'session', ...fieldsOf(session) } as const
  return pageSecret === undefined ? shown : { ...shown, page_secret: pageSecret }
}

/** A session in a list. @param currentId the id of the session of the request. */
export function sessionRow(session: Session, currentId: string): z.infer<typeof sessionListResponse>['data'][number] {
  return { ...fieldsOf(session), seen_at: seconds(session.seenAt), current: session.id === currentId }
}

function fieldsOf({ id, kind, actor, role, tenant, createdAt, expiresAt }: Session) {
  return { id, kind, actor, role, tenant, created_at: seconds(createdAt), expires_at: seconds(expiresAt) }
}

function seconds(milliseconds: number): number {
  return Math.trunc(milliseconds / 1000)
}
