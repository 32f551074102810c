import { isRelayed, matchPath, ROUTES, type Route } from '#core/api/routes.ts'
import { createChatCompletion } from '../api/create-chat-completion/create-chat-completion.ts'
import { createCompletion } from '../api/create-completion/create-completion.ts'
import { createEmbedding } from '../api/create-embedding/create-embedding.ts'
import { createImage } from '../api/create-image/create-image.ts'
import type { Relay } from '../relay/serve-relay.ts'
import { getModel, listModels } from './serve-models.ts'

/** An operation of the relay server. */
export type RelayRoute = { readonly operation: string; readonly relay: Relay; readonly takesBody: boolean }

const RELAYS: Readonly<Record<string, Relay>> = {
  'create-chat-completion': createChatCompletion,
  'create-completion': createCompletion,
  'create-embedding': createEmbedding,
  'create-image': createImage,
  'list-models': listModels,
  'get-model': getModel,
}

const SERVED = ROUTES.flatMap((route: Route) => {
  const relay = RELAYS[route.operation]
  const { operation, method, path } = route
  return relay === undefined ? [] : [{ method, path, served: { operation, relay, takesBody: isRelayed(route) } }]
})

/** Routes without path parameters, by method and path. */
const FIXED: ReadonlyMap<string, RelayRoute> = new Map(
  SERVED.filter(({ path }) => !path.includes('{')).map(({ method, path, served }) => [`${method} ${path}`, served]),
)

const VARIABLE = SERVED.filter(({ path }) => path.includes('{'))

/** The operation of a request; undefined for a path or a method that the relay server does not serve. */
export function relayRouteOf(method: string | undefined, path: string): RelayRoute | undefined {
  return (
    FIXED.get(`${method} ${path}`) ??
    VARIABLE.find((each) => each.method === method && matchPath(each.path, path) !== undefined)?.served
  )
}
