import type { ADMIN_REQUEST_SCHEMAS } from './admin-request-schemas.ts'
import type { ADMIN_RESPONSE_SCHEMAS } from './admin-response-schemas.ts'

/** The description of one operation of the admin API. ADMIN_ROUTES has its method, path, role, query and statuses. */
export type AdminOperationDocument = {
  /** A phrase for menus. */
  readonly summary: string
  /** Sentences of Markdown. */
  readonly description?: string
  readonly request?: keyof typeof ADMIN_REQUEST_SCHEMAS
  readonly response: {
    readonly description: string
    /** Name of a schema of the document; `html` for a page; left out for a response without a body. */
    readonly schema?: keyof typeof ADMIN_RESPONSE_SCHEMAS | 'html'
  }
}
