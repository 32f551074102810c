import { type ErrorShape, errorShapeOf } from '#core/api/paths.ts'
import { declaredStatuses, type Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { ERRORS, PLATFORM_REFUSALS, PLATFORM_STATUSES, PLATFORM_TEXT } from './errors.ts'
import {
  type JsonSchema,
  type OperationExamples,
  type OperationObject,
  type Reference,
  type ResponseObject,
  schemaReference,
} from './openapi-types.ts'
import type { HeaderName, OperationDocument } from './operations.ts'

/** On every response of the gateway. */
const ALWAYS = ['x-request-id', 'openai-processing-ms'] as const satisfies readonly HeaderName[]

function alwaysOf(shape: ErrorShape): readonly HeaderName[] {
  return shape === 'messages' ? [...ALWAYS, 'request-id'] : ALWAYS
}

/** On successes and on refusals of what the request says. */
const HANDLING = ['Preference-Applied', 'x-reelgate-ignored'] as const satisfies readonly HeaderName[]

/** On relayed responses that are billed. */
const COST = ['x-reelgate-cost'] as const satisfies readonly HeaderName[]

/** On every response to a valid key with a rate. */
const RATE = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const satisfies readonly HeaderName[]

/** The one status without a valid key. */
const UNAUTHORIZED = 401

/** Additional headers of errors, by status. */
const ERROR_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  400: HANDLING,
  [UNAUTHORIZED]: ['x-should-retry'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  409: ['x-should-retry'],
  504: ['x-should-retry'],
}

/** Refusals by upstreams are relayed, with these headers if a part of the request was billed or ignored, or handled strictly. */
const RELAYED_STATUSES: readonly number[] = [400, 404, 405, 413]
const RELAYED_HEADERS = ['x-should-retry', ...COST, ...HANDLING] as const satisfies readonly HeaderName[]

function errorSchema(shape: ErrorShape, status: number): JsonSchema {
  if (shape === 'openai') {
    return schemaReference('Error')
  }
  const own = schemaReference(shape === 'video' ? 'VideoError' : 'MessagesError')
  return PLATFORM_STATUSES.includes(status)
    ? {
        description: 'An Error if the platform in front of the gateway refuses the request.',
        anyOf: [own, schemaReference('Error')],
      }
    : own
}

/** Responses for all other statuses. */
const OTHERS = {
  PlatformError: `A refusal by ${PLATFORM_TEXT}.`,
  OtherError: `Another refusal of the upstream (409, 415, 422), relayed with its status and body; or a refusal by ${PLATFORM_TEXT}.`,
} as const

/** The responses of one operation: every status that its row of ROUTES declares, and the default. */
export function responsesOf(
  route: Route,
  { response }: OperationDocument,
  examples: OperationExamples,
): OperationObject['responses'] {
  const shape = errorShapeOf(route.path)
  const { relays } = route
  const { json, events } = contentOf(route.output, response, examples)
  const rate = route.auth === 'none' ? [] : RATE
  const responses = declaredStatuses(route).map((status) => {
    if (status === route.successStatus) {
      const cost = relays === true ? COST : []
      const headers = headersOf([...alwaysOf(shape), ...cost, ...HANDLING, ...rate, ...(response.headers ?? [])])
      return [status, { description: response.description, headers, content: { ...json, ...events } }] as const
    }
    if (status === 204) {
      return [
        status,
        { description: response.complete ?? '', headers: headersOf([...ALWAYS, ...HANDLING, ...rate]) },
      ] as const
    }
    return [status, status === 304 ? notModified(response.headers) : errorReference(shape, status)] as const
  })
  const others = responseReference(relays ? 'OtherError' : 'PlatformError')
  return { ...Object.fromEntries(responses), default: others }
}

const RELAYED_STREAM =
  'The data of each is one JSON object of the schema, or `{"error": {...}}` if the stream fails. A complete stream ends with `data: [DONE]`.'

function contentOf(
  schema: string,
  { events, stream: words = RELAYED_STREAM }: OperationDocument['response'],
  examples: OperationExamples,
) {
  const json = { 'application/json': { schema: schemaReference(schema), examples: examples.responses } }
  if (events === undefined) {
    return { json, events: {} }
  }
  const stream = {
    type: 'string',
    description: `Server-sent events. ${words} Every 15 seconds of silence bring a comment.`,
    contentMediaType: 'text/event-stream',
    contentSchema: schemaReference(events),
  }
  return { json, events: { 'text/event-stream': { schema: stream, examples: examples.events } } }
}

function notModified(headers: readonly HeaderName[] = []): ResponseObject {
  return { description: 'Your copy is current.', headers: headersOf([...ALWAYS, ...headers]) }
}

function headersOf(names: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** @throws RangeError for a status without a description in ERRORS. */
function errorReference(shape: ErrorShape, status: number): Reference {
  const error = ERRORS[shape][status]
  if (error === undefined) {
    throw new RangeError(`no description of ${status} in the ${shape} shape`)
  }
  return responseReference(error.name)
}

function responseReference(name: string): Reference {
  return { $ref: `#/components/responses/${name}` }
}

/** The errors of a shape that some route declares. */
function declaredErrors(shape: ErrorShape): (typeof ERRORS)[ErrorShape] {
  const routes: readonly Route[] = ROUTES.filter(({ path }) => errorShapeOf(path) === shape)
  const statuses = new Set(routes.flatMap(({ errorStatuses }) => errorStatuses))
  return Object.fromEntries(Object.entries(ERRORS[shape]).filter(([status]) => statuses.has(Number(status))))
}

const PLATFORM_EXAMPLES = Object.fromEntries(
  Object.entries(PLATFORM_REFUSALS).map(([name, { summary, value }]) => [name, { summary, value }]),
)

/** Every error response by name, and the two for all other statuses. */
export function errorResponses(): Record<string, ResponseObject> {
  const shapes = (['video', 'messages', 'openai'] as const).flatMap((shape) =>
    Object.entries(declaredErrors(shape)).map(([status, { name, description, examples }]) => {
      const rate = Number(status) === UNAUTHORIZED ? [] : RATE
      const relayed = shape !== 'video' && RELAYED_STATUSES.includes(Number(status)) ? RELAYED_HEADERS : []
      const headers = headersOf([...alwaysOf(shape), ...(ERROR_HEADERS[Number(status)] ?? []), ...relayed, ...rate])
      const content = { 'application/json': { schema: errorSchema(shape, Number(status)), examples } }
      return [name, { description, headers, content }] as const
    }),
  )
  const others = Object.entries(OTHERS).map(([name, description]) => {
    const relayed = name === 'OtherError' ? RELAYED_HEADERS : []
    const headers = headersOf(['x-request-id', 'Retry-After', ...relayed])
    const content = { 'application/json': { schema: schemaReference('Error'), examples: PLATFORM_EXAMPLES } }
    return [name, { description, headers, content }] as const
  })
  return Object.fromEntries([...shapes, ...others])
}

const text = (description: string) => ({ description, schema: { type: 'string' } })
const seconds = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** The headers of responses, by name. */
export const HEADERS = {
  'x-request-id': text('Id of the request. Quote it when you ask about the request.'),
  'request-id': text('The same, where clients of the Anthropic API read it.'),
  'openai-processing-ms': {
    description: 'Milliseconds until the response began.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Retry-After': seconds('Seconds to wait before a retry.'),
  'x-should-retry': {
    description: '`false`: do not retry automatically, because a retry could be billed again or cannot succeed.',
    schema: { type: 'string', enum: ['false'] },
  },
  'x-reelgate-cost': text(
    'What the request costs, in credits, such as `0.005195`. Absent if nothing is billed, from streams, and from responses so large that they are relayed while they arrive.',
  ),
  'x-reelgate-ignored': text(
    'Ignored fields of the body, query parameters and an ignored `Idempotency-Key`, such as `durration, messages.content.cache_control`: percent-encoded, at most 20 and 1 KB. Absent if there are none.',
  ),
  'Preference-Applied': text('`handling=strict` if the request asked for that in `Prefer`.'),
  'x-ratelimit-limit-requests': text('Requests per minute that the key may make, if it has a rate.'),
  'x-ratelimit-remaining-requests': text('Requests that the key may make now, if it has a rate.'),
  'x-ratelimit-reset-requests': text(
    'Time until the full burst is available again, such as `8.64s`, if the key has a rate.',
  ),
  ETag: text('Tag of this version of the document, for `If-None-Match`.'),
  'Cache-Control': text('How long a cache may keep the response.'),
  Vary: text('The request headers that the response depends on.'),
} as const
