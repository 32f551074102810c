import type { AdminRoute } from '#core/admin/routes.ts'
import { type JsonSchema, schemaReference } from '../json-schema.ts'
import type { OperationObject, ResponseObject } from '../openapi-types.ts'
import type { AdminOperationDocument } from './admin-operation-document.ts'

/** Error statuses: their names in the document, and their causes. */
const ERRORS: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'A wrong or unknown parameter or field. `param` names it.'],
  401: ['NotSignedIn', 'No valid session; of a sign-in: a wrong, revoked or expired secret.'],
  403: ['Forbidden', 'The role may not do this, or the request may come from a page of another site.'],
  404: ['NotFound', 'There is no such thing; or the request did not come through the front door.'],
  409: ['Conflict', 'The state of the target refuses the change. `code` says why.'],
  413: ['ContentTooLarge', 'The body is larger than 64 KiB.'],
  429: [
    'TooManyRequests',
    'Too often: failed sign-ins of an address, or sign-ins, playground keys or verifications of a key or user. Retry after `Retry-After`.',
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
