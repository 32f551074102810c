import { ADMIN_ROUTES, type AdminRoute } from '#core/admin/routes.ts'
import { AUDIT_SCHEMAS, listAuditDocument } from './audit.docs.ts'
import { CALLBACK_SCHEMAS, listCallbackAttemptsDocument } from './callback-attempts.docs.ts'
import { revealCallbackSecretDocument } from './callback-secrets.docs.ts'
import { CHANNEL_DOCUMENTS, CHANNEL_SCHEMAS } from './channels.docs.ts'
import type { DocumentedOperation } from './document.ts'
import { KEY_DOCUMENTS, KEY_SCHEMAS } from './keys.docs.ts'
import { LEDGER_DOCUMENTS, LEDGER_SCHEMAS } from './ledger.docs.ts'
import { routeOf } from './operation.ts'
import { getOverviewDocument } from './overview.docs.ts'
import { listRequestsDocument, REQUEST_SCHEMAS } from './requests.docs.ts'
import { TENANT_DOCUMENTS, TENANT_SCHEMAS } from './tenants.docs.ts'
import { getUsageDocument } from './usage.docs.ts'

/** Every defined operation of the admin API, with its documentation. */
export const ADMIN_DOCUMENTS: readonly DocumentedOperation[] = [
  getOverviewDocument,
  getUsageDocument,
  ...Object.values(TENANT_DOCUMENTS),
  ...Object.values(KEY_DOCUMENTS),
  revealCallbackSecretDocument,
  ...Object.values(CHANNEL_DOCUMENTS),
  ...Object.values(LEDGER_DOCUMENTS),
  listRequestsDocument,
  listAuditDocument,
  listCallbackAttemptsDocument,
]

/** The common parts of responses, by their names in `admin-openapi.json`. */
export const ADMIN_SCHEMAS = {
  ...TENANT_SCHEMAS,
  ...KEY_SCHEMAS,
  ...CHANNEL_SCHEMAS,
  ...LEDGER_SCHEMAS,
  ...AUDIT_SCHEMAS,
  ...CALLBACK_SCHEMAS,
  ...REQUEST_SCHEMAS,
}

/** The row of every operation, for the document and for tests. Functions on AWS have their own rows alone. */
export const ALL_ADMIN_ROUTES: readonly AdminRoute[] = [
  ...ADMIN_ROUTES,
  ...ADMIN_DOCUMENTS.map(({ operation }) => routeOf(operation)),
]
