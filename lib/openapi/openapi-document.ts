import { DOCUMENT_SERVER } from '#core/api/paths.ts'
import { RESPONSE_SCHEMAS } from '#core/api/response-schemas.ts'
import { VERSION } from '#core/version.ts'
import type { Route } from '#routes/define-route.ts'
import { type Operation, ROUTES } from '#routes/index.ts'
import {
  type OpenapiDocument,
  type OperationObject,
  type Parameter,
  readExamples,
  toJsonSchemas,
} from './openapi-types.ts'
import { type OperationDocument, SERVICE_OPERATIONS, TAGS, USAGE_OPERATIONS, VIDEO_OPERATIONS } from './operations.ts'
import { RELAY_OPERATIONS, RELAY_SCHEMAS, RELAY_TAGS } from './relay-operations.ts'
import { requestBodySchema, requestPartSchemas } from './request-schemas.ts'
import { errorResponses, HEADERS, responsesOf } from './responses.ts'

const { Video, Models, ...LAST_TAGS } = TAGS
const ALL_TAGS = { Video, Models, ...RELAY_TAGS, ...LAST_TAGS }

type Described = OperationDocument & { readonly tag: keyof typeof ALL_TAGS }

/** A new row of ROUTES does not compile without a description here. */
const OPERATIONS: Readonly<Record<Operation, Described>> = {
  ...VIDEO_OPERATIONS,
  ...RELAY_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...SERVICE_OPERATIONS,
}

const DESCRIPTION = `A gateway in front of AI providers: asynchronous video jobs, and relayed chat, responses, messages, completions, embeddings and images, with one key and one balance.

Bodies are uncompressed JSON in UTF-8, at most 5 MiB, with at most 100,000 strings, objects and lists. Responses may contain fields that are not described here.

This document is generated from the table of routes and the schemas that validate requests.`

/** On every operation (RFC 7240). */
const PREFER: Parameter = {
  name: 'Prefer',
  in: 'header',
  description:
    '`handling=strict` makes unknown fields, unknown query parameters and an `Idempotency-Key` without effect a 400 that names them. Without it they are ignored, and `x-reelgate-ignored` names them.',
  schema: { type: 'string' },
  example: 'handling=strict',
}

/** The OpenAPI 3.1 document of the whole API. Reads the examples from their files. */
export function openapiDocument(): OpenapiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reelgate',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: DOCUMENT_SERVER, description: 'The deployment that serves this document; in the file, a local host.' },
    ],
    tags: Object.entries(ALL_TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A key of the gateway, which selects the tenant.' },
      },
      schemas: { ...requestPartSchemas(), ...toJsonSchemas({ ...RESPONSE_SCHEMAS, ...RELAY_SCHEMAS }, 'output') },
      headers: HEADERS,
      responses: errorResponses(),
    },
  }
}

/** The file `openapi.json`. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(), null, 2)}\n`
}

function paths(): OpenapiDocument['paths'] {
  const byPath: Record<string, Record<string, OperationObject>> = {}
  for (const route of ROUTES) {
    byPath[route.path] = { ...byPath[route.path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return byPath
}

/** The part of the document about one route. @throws RangeError for a route without a description. */
export function operationOf(route: Route): OperationObject {
  const document = new Map<string, OperationDocument>(Object.entries(OPERATIONS)).get(route.operation)
  if (document === undefined) {
    throw new RangeError(`no description of ${route.operation}`)
  }
  const examples = readExamples(route.operation)
  return {
    operationId: operationId(route.operation),
    tags: [document.tag],
    summary: document.summary,
    description: document.description,
    ...(route.auth === 'none' ? { security: [] } : {}),
    parameters: [...(document.parameters ?? []), PREFER].map(parameterObject),
    ...(route.input === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: requestBodySchema(route.input), examples: examples.requests },
            },
          },
        }),
    responses: responsesOf(route, document, examples),
    ...(document.callbacks === undefined ? {} : { callbacks: document.callbacks }),
  }
}

function parameterObject(parameter: Parameter) {
  return { ...parameter, ...(parameter.in === 'path' ? { required: true } : {}) }
}

/** `create-video-job` becomes `createVideoJob`, as client generators name functions. */
export function operationId(operation: string): string {
  return operation.replace(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}
