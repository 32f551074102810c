import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { matchPath } from '#core/api/paths.ts'
import type { OpenapiDocument, ResponseObject } from '../../lib/openapi/openapi-types.ts'

/** `openapi.json` as it is committed. */
const committedDocument: OpenapiDocument = JSON.parse(
  readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
)

const schemas = new Map<string, z.ZodType>()

/** The schema of a name of the committed document, or of a reference to one, as something that checks. */
export function committedSchema(name: string): z.ZodType {
  const known = schemas.get(name)
  if (known !== undefined) {
    return known
  }
  const definitions = JSON.stringify({ ...requestBodies(), ...committedDocument.components.schemas }).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  )
  const schema = z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs: JSON.parse(definitions) })
  schemas.set(name, schema)
  return schema
}

/** Schemas of request bodies, by their titles. */
function requestBodies(): Record<string, unknown> {
  const operations = Object.values(committedDocument.paths).flatMap((methods) => Object.values(methods))
  return Object.fromEntries(
    operations.flatMap(({ requestBody }) => {
      const schema = requestBody?.content['application/json']?.schema
      return schema === undefined ? [] : [[String(schema.title), schema]]
    }),
  )
}

/** `VideoJob` of `{ "$ref": "#/components/schemas/VideoJob" }`, and of a schema with that title. */
export function nameOf(schema: unknown): string {
  const { $ref, title } = Object(schema)
  return (
    String($ref ?? title)
      .split('/')
      .at(-1) ?? ''
  )
}

/** An answer as it arrived. */
type GivenAnswer = {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

/**
 * Holds an answer of a declared operation against the committed document. What goes to the fallback is not declared.
 * @throws TypeError when its status is not declared, or its body is not as described.
 */
export function requireDocumented({ method, path, status, contentType, text }: GivenAnswer): void {
  const [, methods] = Object.entries(committedDocument.paths).find(([template]) => matchPath(template, path)) ?? []
  const operation = methods?.[method.toLowerCase()]
  if (operation === undefined) {
    return
  }
  const declared = operation.responses[String(status)]
  if (declared === undefined) {
    throw new TypeError(`${operation.operationId} does not declare ${status}`)
  }
  const response = resolve(declared)
  const type = contentType?.split(';')[0] ?? ''
  const content = response.content?.[type]
  if (content === undefined) {
    throw new TypeError(`${operation.operationId} ${status} does not declare ${type}`)
  }
  const { anyOf, contentSchema } = content.schema
  const names = [anyOf ?? contentSchema ?? content.schema].flat().map(nameOf)
  const bodies = type === 'text/event-stream' ? eventData(text) : [JSON.parse(text)]
  for (const body of bodies) {
    const errors = names.flatMap((name) => committedSchema(name).safeParse(body).error ?? [])
    // A stream may end with an error in place of an event.
    if (errors.length === names.length && !('error' in Object(body) && type === 'text/event-stream')) {
      const why = errors.map((error) => z.prettifyError(error)).join(' or ')
      throw new TypeError(`${operation.operationId} ${status} is no ${names.join(' or ')}: ${why} in ${text}`)
    }
  }
}

function resolve(response: ResponseObject | { readonly $ref: string }): ResponseObject {
  return '$ref' in response
    ? (committedDocument.components.responses[nameOf(response)] ?? { description: '' })
    : response
}

/** The JSON of each event of a stream. */
export function eventData(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)))
}
