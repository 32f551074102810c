import type { MiddlewareObj } from '@middy/core'
import { ignoredHeader, prefersStrict, refuseIgnored } from '#core/api/ignored-fields.ts'
import { queryOf } from '#core/api/routes.ts'
import { topLevelFields } from '#core/json/json-fields.ts'
import type { ApiEvent, ApiResult, Handling } from './api-event.ts'
import { type ReceivedRequest, receivedRequest } from './received-request.ts'

/** The fields of a body that an operation does not know. */
export type UnknownFields = (json: unknown) => readonly string[]

type Options = {
  readonly operation: string
  /** Left out for operations without a body. */
  readonly unknownFields?: UnknownFields | undefined
}

/**
 * Notes the query parameters and fields that the operation ignores, which the response names. A request with
 * `Prefer: handling=strict` is refused for them.
 * @throws InvalidRequestError naming them.
 */
export function strictHandling({ operation, unknownFields }: Options): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    const request = receivedRequest(event)
    const { isStrict, ignored } = handlingOf(request, operation)
    // Nobody reads the body of an operation without one, so only a strict request pays for a look.
    const fields = unknownFields?.(event.json) ?? (isStrict ? namesInBody(request.body) : [])
    event.handling = { isStrict, ignored: { ...ignored, fields } }
    if (isStrict) {
      refuseIgnored(event.handling.ignored)
    }
  }
  return { before }
}

/** What a request prefers, and the query parameters that its operation ignores; nothing is known of its fields yet. */
export function handlingOf(
  { queryNames, headerLines }: Pick<ReceivedRequest, 'queryNames' | 'headerLines'>,
  operation: string,
): Handling {
  const known = queryOf(operation) ?? []
  const query = queryNames.filter((name) => !known.includes(name))
  return { isStrict: prefersStrict(headerLines('prefer')), ignored: { query, fields: [] } }
}

/** Headers of a response: that the handling was strict (RFC 7240, section 3), and what was ignored. */
export function handlingHeaders(handling: Handling | undefined): Record<string, string> {
  if (handling === undefined) {
    return {}
  }
  const { isStrict, ignored } = handling
  const { fields, query } = ignored
  const names = query.length === 0 ? fields : [...new Set([...fields, ...query])]
  return { ...(isStrict ? { 'preference-applied': 'handling=strict' } : {}), ...ignoredHeader(names) }
}

/** The names at the top level of a JSON object; none of any other body. */
export function namesInBody(body: Buffer): readonly string[] {
  const text = body.toString('utf8').trimStart()
  return text.startsWith('{') ? Array.from(topLevelFields(text), ({ name }) => name) : []
}
