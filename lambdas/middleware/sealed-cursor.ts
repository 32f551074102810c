import type { AdminRoute } from '#core/admin/routes.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { openSealedValue, sealValue } from '#platform/crypto.ts'
import { sealingSecrets } from '#platform/secrets.ts'
import type { ApiEvent } from './api-event.ts'

/**
 * Serves a page of a list whose cursors nobody reads, makes or takes along: a position may be the id of a key or a session of somebody else.
 * Each cursor is sealed for its list, its user and the tenant. Operations read and return positions as they are.
 * @throws InvalidRequestError for an `after` that is not the `next` of such a page.
 */
export async function servePage<Response extends { readonly body?: object | string }>(
  event: ApiEvent,
  { operation }: Pick<AdminRoute, 'operation'>,
  serve: (event: ApiEvent) => Promise<Response>,
): Promise<Response> {
  const { after, ...query } = event.queryStringParameters ?? {}
  const { holder, tenant } = event.session ?? {}
  const purpose = JSON.stringify(['page', operation, holder, tenant?.id ?? query.tenant])
  const secrets = await sealingSecrets()
  const position = after === undefined ? undefined : openSealedValue(after, { secrets, purpose })
  if (after !== undefined && position === undefined) {
    throw new InvalidRequestError([{ path: 'after', message: '`after` must be `next` of the page before' }])
  }
  const response = await serve({ ...event, queryStringParameters: { ...query, after: position } })
  const { next } = Object(response.body)
  const [secret = ''] = secrets
  return typeof next === 'string'
    ? { ...response, body: { ...Object(response.body), next: sealValue(next, { secret, purpose }) } }
    : response
}
