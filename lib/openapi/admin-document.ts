import type { AdminFunction, AdminRoute } from '#core/admin/routes.ts'
import { DOCUMENT_SERVER } from '#core/api/paths.ts'
import { LISTED_STATUSES } from '#core/jobs/video-job.ts'
import { type Access, isOfTenant, servedRoles } from '#core/roles.ts'
import { VERSION } from '#core/version.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { ADMIN_DOCUMENTS, ADMIN_SCHEMAS, COMMANDS } from '../cli/admin/commands.ts'
import type { DocumentedOperation } from '../cli/admin/document.ts'
import {
  ADMIN_READ_OPERATIONS,
  ADMIN_REQUEST_SCHEMAS,
  ADMIN_RESPONSE_SCHEMAS,
  ADMIN_SIGN_IN_OPERATIONS,
  ADMIN_WRITE_OPERATIONS,
  type AdminOperationDocument,
} from './admin-operations.ts'
import { operationId } from './openapi-document.ts'
import {
  type JsonSchema,
  type OpenapiDocument,
  type OperationObject,
  type Parameter,
  type ResponseObject,
  schemaReference,
  toJsonSchemas,
} from './openapi-types.ts'

type AdminParameter = Parameter & { readonly required?: boolean }

type Described = { readonly description: string; readonly schema: JsonSchema }

const text = (description: string): Described => ({ description, schema: { type: 'string' } })
const time = (description: string): Described => ({ description, schema: { type: 'string', format: 'date-time' } })
const choice = (description: string, values: readonly string[]): Described => ({
  description,
  schema: { type: 'string', enum: values },
})

const SECONDS: JsonSchema = { type: 'integer', minimum: 0 }

const PATH: Readonly<Record<string, Described>> = {
  job_id: text('Id of the video job.'),
  tenant_id: text('Id of the tenant.'),
  key_id: text('Public id of the API key.'),
  channel_id: text('Id of the channel.'),
  model: text('Id of the model, percent-encoded.'),
  session_id: text('Id of the session.'),
}

/** Every query parameter. */
const QUERY: Readonly<Record<string, Described>> = {
  tenant: text('Id of the tenant. An API key may name its own alone.'),
  from: text('First moment: a day in UTC, or a time where the rows are times.'),
  to: text('Last moment, in the same form; a day is included.'),
  group_by: text(
    'Some of `day`, `model`, `key`, `operation`, for one tenant that counts them `user`, and for all tenants `tenant`, separated by commas.',
  ),
  status: choice('Jobs with this status; `cancelled` is a part of `failed`.', LISTED_STATUSES),
  model: text('Jobs of this model.'),
  created_after: { description: 'Jobs made at this time or later, Unix seconds.', schema: SECONDS },
  created_before: { description: 'Jobs made before this time, Unix seconds.', schema: SECONDS },
  key: text('Requests with this API key, by its public id.'),
  failed: choice('Only requests that failed.', ['true', 'false']),
  kind: choice(
    'Rows of this kind. A relayed request has one row, `settle` or `release`, so `reserve` finds videos alone.',
    ['grant', 'adjust', 'reserve', 'settle', 'release'],
  ),
  id: text('Rows of this job, request, grant or correction.'),
  since: time('Entries at this time or later.'),
  until: time('Entries before this time.'),
  actor: text('Entries whose actor contains this string.'),
  target: text('Entries about this target, or about a key or job of this tenant.'),
  action: text('Entries with this action, such as `key revoke`.'),
  after: text('`next` of the page before.'),
  limit: { description: 'Rows per page.', schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
  code: text('Of the provider.'),
  state: text('Of the provider.'),
  iss: text('Of the provider.'),
  error: text('Of the provider.'),
  error_description: text('Of the provider.'),
  error_uri: text('Of the provider.'),
  session_state: text('Of the provider.'),
  scope: text('Of the provider.'),
}

/** Where a name of the list means something else. */
const OF_OPERATION: Readonly<Record<string, Readonly<Record<string, Described>>>> = {
  'start-oidc': {
    to: text('Page of the console to come back to, with its query, such as `/console/videos?status=failed`.'),
  },
  'get-usage': {
    from: { description: 'First day, UTC; default: 29 days before `to`.', schema: { type: 'string', format: 'date' } },
    to: { description: 'Last day, UTC; default: today.', schema: { type: 'string', format: 'date' } },
    limit: { description: 'Groups per page.', schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 1_000 } },
  },
  'list-requests': {
    model: text('Requests for this model.'),
  },
  'list-ledger': {
    from: time('Rows of jobs and requests that began at this time or later.'),
    to: time('Rows of jobs and requests that began before this time.'),
  },
}

/** On every request of a session that changes something: a page of another site cannot send this header. */
const CONSOLE_HEADER: Parameter = {
  name: 'x-reelgate-console',
  in: 'header',
  description: 'Always `1`. Required with a session; not needed with an admin key.',
  schema: { type: 'string', enum: ['1'] },
}

/**
 * The parameters of an operation, from its row.
 * @throws RangeError for a parameter without a description.
 */
export function adminParameters({
  operation,
  method,
  path,
  query = [],
  function: name,
  needsSession,
}: AdminRoute): readonly AdminParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const described = (name: string, table: Readonly<Record<string, Described>>) => {
    const found = OF_OPERATION[operation]?.[name] ?? table[name]
    if (found === undefined) {
      throw new RangeError(`no description of the parameter ${name} of ${operation}`)
    }
    return found
  }
  return [
    ...names.map((name) => ({ name, in: 'path' as const, required: true, ...described(name, PATH) })),
    ...query.map((name) => ({ name, in: 'query' as const, ...described(name, QUERY) })),
    ...(method === 'GET' ? [] : [{ ...CONSOLE_HEADER, required: name === 'sign-in' || needsSession === true }]),
  ]
}

/** Error statuses: their names in the document, and their causes. */
const ERRORS: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'A wrong or unknown parameter or field. `param` names it.'],
  401: ['NotSignedIn', 'No valid session or admin key; of a sign-in: a wrong, revoked or expired secret.'],
  403: ['Forbidden', 'The role may not do this, or the request may come from a page of another site.'],
  404: ['NotFound', 'There is no such thing; or the request did not come through the front door.'],
  409: ['Conflict', 'The state of the target refuses the change. `code` says why.'],
  413: ['ContentTooLarge', 'The body is larger than 64 KiB.'],
  429: [
    'TooManyRequests',
    'Too often: failed sign-ins or wrong admin keys of an address, requests of an admin key, or sign-ins, playground keys or verifications of a key or user. Retry after `Retry-After`.',
  ],
  500: ['InternalError', 'A fault of the gateway.'],
  502: ['BadGateway', 'The OpenID provider failed.'],
  503: ['ServiceUnavailable', 'Contention or an outage. Retry after `Retry-After`.'],
}

/** The responses of one operation: every status that its row declares. @throws RangeError for a status without a description. */
export function adminResponsesOf(
  { successStatus, errorStatuses }: AdminRoute,
  { response: { description, schema } }: AdminOperationDocument,
): OperationObject['responses'] {
  const content = schema === undefined ? {} : { content: contentOf(schema) }
  const errors = errorStatuses.map((status) => {
    const error = ERRORS[status]
    if (error === undefined) {
      throw new RangeError(`no description of ${status}`)
    }
    return [status, { $ref: `#/components/responses/${error[0]}` }] as const
  })
  return { [successStatus]: { description, ...content }, ...Object.fromEntries(errors) }
}

function contentOf(schema: string) {
  const html: JsonSchema = { type: 'string' }
  return schema === 'html'
    ? { 'text/html': { schema: html } }
    : { 'application/json': { schema: schemaReference(schema) } }
}

/** Every error response, by name. */
export function adminErrorResponses(): Record<string, ResponseObject> {
  const content = { 'application/json': { schema: schemaReference('Error') } }
  const retry = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, [name, description]]) => [
      name,
      { description, ...(status === '429' || status === '503' ? { headers: retry } : {}), content },
    ]),
  )
}

/** By the names of the operations. */
const OPERATIONS: Readonly<Record<string, AdminOperationDocument>> = {
  ...ADMIN_SIGN_IN_OPERATIONS,
  ...ADMIN_READ_OPERATIONS,
  ...ADMIN_WRITE_OPERATIONS,
  ...Object.fromEntries(ADMIN_DOCUMENTS.map((document) => [document.operation.name, documentOf(document)])),
}

/** The entry of a defined operation. Its schemas are named after it. */
function documentOf({
  operation,
  summary,
  description = '',
  returns,
  output,
}: DocumentedOperation): AdminOperationDocument {
  const { name, body, conflicts = [], audit } = operation
  const commands = COMMANDS.filter((command) => command.operation === name).map((command) => `\`${command.name}\``)
  const notes = [
    description,
    conflicts.length === 0 ? '' : `Codes of a 409: ${conflicts.map((code) => `\`${code}\``).join(', ')}.`,
    audit === undefined ? '' : `In the audit log: \`${audit}\`.`,
    commands.length === 0 ? '' : `On the command line: ${commands.join(', ')}.`,
  ]
  return {
    summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}`,
    description: notes.filter(Boolean).join(' '),
    ...(body === undefined ? {} : { request: schemaName(name, 'Request') }),
    response: { description: returns, schema: responseName(name, output) },
  }
}

/** A response that is a common part has the name of the part. */
function responseName(operation: string, output: DocumentedOperation['output']): string {
  const part = Object.entries(ADMIN_SCHEMAS).find(([, schema]) => schema === output)
  return part?.[0] ?? schemaName(operation, 'Response')
}

/** Such as `CreateKeyRequest` of `create-key`. */
function schemaName(operation: string, kind: 'Request' | 'Response'): string {
  return `${operation.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}${kind}`
}

const TAGS: Readonly<Record<AdminFunction, string>> = {
  'sign-in': 'Sessions of the console.',
  read: 'What the console shows. Nothing is written.',
  write: 'What owners change, and admins of a tenant within it. Every effect is in the audit log.',
}

/** Whom an operation serves, in words. */
function rolesOf(access: Access): string {
  const roles = servedRoles(access)
  return roles === undefined
    ? 'Anyone may call it.'
    : `Roles: ${roles.map((role) => `\`${role}\``).join(', ')}.${roles.some(isOfTenant) ? ' A role of a tenant sees and changes its own alone.' : ''}`
}

const DESCRIPTION = `The API for administration, which the console uses too. Programs call it with an admin key: \`Authorization: Bearer rg_admin_...\`. The console and its operations are of one version, so fields may change with any release.

What moves money, and what makes tenants and keys, takes an \`id\`, with which a request can be repeated.

Amounts are credits, as decimal strings. Times are ISO 8601 in UTC, or Unix seconds where the schema says so. Unknown parameters and fields are a 400. No response may be stored.

Lists have their rows, such as \`tenants\`, and \`has_more\`, \`next\` and \`as_of\`. The next page has \`next\` as its \`after\`.`

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
    security: [{ session: [] }, { adminKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        adminKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An admin key, `rg_admin_...`, as `npm run admin -- console key create` makes it. It needs no cookie and no other header, and has 300 requests a minute.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Secure-rg_console',
          description: 'The cookie that a sign-in sets. Its name differs on loopback.',
        },
      },
      schemas: { ...requestSchemas(), ...responseSchemas() },
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
  const defined = ADMIN_DOCUMENTS.flatMap(({ operation: { name, body } }) =>
    body === undefined ? [] : [[schemaName(name, 'Request'), body()] as const],
  )
  return toJsonSchemas({ ...ADMIN_REQUEST_SCHEMAS, ...Object.fromEntries(defined) }, 'input')
}

function responseSchemas() {
  const defined = ADMIN_DOCUMENTS.map(
    ({ operation, output }) => [responseName(operation.name, output), output] as const,
  )
  return toJsonSchemas({ ...ADMIN_RESPONSE_SCHEMAS, ...ADMIN_SCHEMAS, ...Object.fromEntries(defined) }, 'output')
}

function paths(): OpenapiDocument['paths'] {
  const byPath: Record<string, Record<string, OperationObject>> = {}
  for (const route of ALL_ADMIN_ROUTES) {
    byPath[route.path] = { ...byPath[route.path], [route.method.toLowerCase()]: operationObject(route) }
  }
  return byPath
}

/** Pages of the console alone may call what signs in and out, and the playground. */
function securityOf({ access, function: name, needsSession }: AdminRoute): Pick<OperationObject, 'security'> {
  if (access === 'public') {
    return { security: [] }
  }
  return name === 'sign-in' || needsSession === true ? { security: [{ session: [] }] } : {}
}

/** @throws RangeError for a row without a description. */
function operationObject(route: AdminRoute): OperationObject {
  const document = OPERATIONS[route.operation]
  if (document === undefined) {
    throw new RangeError(`no description of ${route.operation}`)
  }
  const { summary, description, request } = document
  return {
    operationId: operationId(route.operation),
    tags: [route.function],
    summary,
    description: [description, rolesOf(route.access)].filter(Boolean).join(' '),
    ...securityOf(route),
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
