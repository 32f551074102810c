import { ADMIN_ROUTES, type AdminFunction, type AdminRoute } from '#core/admin/routes.ts'
import { DOCUMENT_SERVER } from '#core/api/routes.ts'
import { VERSION } from '#core/version.ts'
import { toJsonSchemas } from '../json-schema.ts'
import { operationId } from '../openapi-document.ts'
import type { OpenapiDocument, OperationObject } from '../openapi-types.ts'
import type { AdminOperationDocument } from './admin-operation-document.ts'
import { adminParameters } from './admin-parameters.ts'
import { ADMIN_READ_OPERATIONS } from './admin-read-operations.ts'
import { ADMIN_REQUEST_SCHEMAS } from './admin-request-schemas.ts'
import { ADMIN_RESPONSE_SCHEMAS } from './admin-response-schemas.ts'
import { adminErrorResponses, adminResponsesOf } from './admin-responses.ts'
import { ADMIN_SIGN_IN_OPERATIONS } from './admin-sign-in-operations.ts'
import { ADMIN_WRITE_OPERATIONS } from './admin-write-operations.ts'

const OPERATIONS: Readonly<Record<AdminFunction, Readonly<Record<string, AdminOperationDocument>>>> = {
  'sign-in': ADMIN_SIGN_IN_OPERATIONS,
  read: ADMIN_READ_OPERATIONS,
  write: ADMIN_WRITE_OPERATIONS,
}

const TAGS: Readonly<Record<AdminFunction, string>> = {
  'sign-in': 'Sessions of the console.',
  read: 'What the console shows. Nothing is written.',
  write: 'What owners change. Every effect is in the audit log.',
}

const ROLES = {
  public: 'Anyone may call it.',
  tenant: 'Every session may call it. An API key sees its own tenant.',
  viewer: 'Needs the role `viewer` or `owner`.',
  owner: 'Needs the role `owner`.',
} as const

const DESCRIPTION = `The API of the console. The console and its operations are of one version, so fields may change with any release.

Amounts are credits, as decimal strings. Times are Unix seconds. Unknown parameters and fields are a 400. No response may be stored.

Lists have \`data\`, \`has_more\`, \`next\` and \`as_of\`. The next page has \`next\` as its \`after\`.`

/** The OpenAPI 3.1 document of the admin API. */
export function adminDocument(): OpenapiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reelgate admin API',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: DOCUMENT_SERVER, description: 'The origin of the console.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ session: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Secure-rg_console',
          description: 'The cookie that a sign-in sets. Its name differs on loopback.',
        },
      },
      schemas: { ...requestSchemas(), ...toJsonSchemas(ADMIN_RESPONSE_SCHEMAS, 'output') },
      headers: {
        'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 0 } },
      },
      responses: adminErrorResponses(),
    },
  }
}

/** The file `admin-openapi.json`. */
export function adminDocumentText(): string {
  return `${JSON.stringify(adminDocument(), null, 2)}\n`
}

/** Of what a client may send: a field with a default may be left out. */
function requestSchemas() {
  return toJsonSchemas(ADMIN_REQUEST_SCHEMAS, 'input')
}

function paths(): OpenapiDocument['paths'] {
  const byPath: Record<string, Record<string, OperationObject>> = {}
  for (const route of ADMIN_ROUTES) {
    byPath[route.path] = { ...byPath[route.path], [route.method.toLowerCase()]: operationObject(route) }
  }
  return byPath
}

/** @throws RangeError for a row without a description. */
function operationObject(route: AdminRoute): OperationObject {
  const document = OPERATIONS[route.function][route.operation]
  if (document === undefined) {
    throw new RangeError(`no description of ${route.operation}`)
  }
  const { summary, description, request } = document
  return {
    operationId: operationId(route.operation),
    tags: [route.function],
    summary,
    description: [description, ROLES[route.access]].filter(Boolean).join(' '),
    ...(route.access === 'public' ? { security: [] } : {}),
    parameters: adminParameters(route),
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: `#/components/schemas/${request}` } } },
          },
        }),
    responses: adminResponsesOf(route, document),
  }
}
