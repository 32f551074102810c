import type { AdminRoute } from '#core/admin/routes.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { ApiEvent } from './api-event.ts'
import { readJsonBody } from './json-body.ts'
import { receivedRequest } from './received-request.ts'

/** The largest request names some hundred models. */
const BODY_BYTES_MAX = 64 * 1024

/** No request of the admin API nests deeper than a list in an object. */
const BODY_DEPTH_MAX = 8

/**
 * Refuses query parameters that the operation does not know, and parameters that are given twice: proxies disagree on which of
 * them counts.
 * @throws InvalidRequestError naming the parameter.
 */
export function checkQuery(
  event: ApiEvent,
  { query = [], isQueryOpen }: Pick<AdminRoute, 'query' | 'isQueryOpen'>,
): void {
  for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    const path = name.slice(0, NAME_CHARACTERS_MAX)
    if (!query.includes(name) && !isQueryOpen) {
      const known = query.length === 0 ? 'this operation has none' : `use ${query.join(', ')}`
      throw new InvalidRequestError([{ path, message: `the query parameter \`${path}\` is unknown: ${known}` }])
    }
    if ((values?.length ?? 0) > 1) {
      throw new InvalidRequestError([{ path, message: `the query parameter \`${path}\` is given twice: send it once` }])
    }
  }
}

/** Longer names are cut in an error. */
const NAME_CHARACTERS_MAX = 64

/**
 * The parsed body; an empty object for a request without one, so that an operation names the fields that it misses.
 * @throws RequestBodyTooLargeError, InvalidRequestError for a body that is not JSON.
 */
export async function readAdminBody(event: ApiEvent): Promise<unknown> {
  return event.body
    ? (await readJsonBody(receivedRequest(event), { bytesMax: BODY_BYTES_MAX, depthMax: BODY_DEPTH_MAX })).json
    : {}
}
