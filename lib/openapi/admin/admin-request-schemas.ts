import { createSessionRequest } from '#core/console/session-request.ts'

/** The request bodies of the admin API, by their names in the document. */
export const ADMIN_REQUEST_SCHEMAS = { CreateSession: createSessionRequest } as const
