import { expect } from '@jest/globals'
import { errorShapeOf, MODEL_ENDPOINTS, type ModelEndpoint } from '#core/api/paths.ts'
import type { Route } from '#routes/define-route.ts'
import type { Operation } from '#routes/index.ts'
import { RELAYED_ROUTES } from '#routes/relayed.ts'
import { readExamples } from '../../lib/openapi/openapi-types.ts'
import { CHAT, chatAnswer, DONE, FINISH, UNSERVED, USAGE_CHUNK, word } from './relay-rig.ts'

type Sample = { readonly body: Readonly<Record<string, unknown>>; readonly reply: object; readonly stream?: unknown }

/** The first request, response and stream among the examples of an operation; undefined if it takes no body. */
export function exampleOf(operation: Operation): Sample | undefined {
  const { requests = {}, responses = {}, events = {} } = readExamples(operation)
  const [request, response, stream] = [requests, responses, events].map((examples) => Object.values(examples)[0])
  return request && { body: Object(request.value), reply: Object(response?.value), stream: stream?.value }
}

/** Models of the tests' catalogues, by the routes that take them. */
const MODELS = { chat: CHAT, embedding: 'text-embedding-3-small', image: 'image-v2' } as const

/** A completion of one prompt, which is one request of the upstream. */
const COMPLETION = { prompt: 'hi', max_tokens: 5 }

/**
 * A relayed route with a request that it accepts, and the reply of its upstream: the examples of openapi.json, for the models of the
 * tests. A route that is translated has an upstream that speaks chat.
 */
function sampled(route: Route<Operation>) {
  const { kind, speaks } = endpointOf(route)
  const { body: example = {}, reply = {}, stream } = exampleOf(route.operation) ?? {}
  const body = { ...example, ...(route.operation === 'create-completion' ? COMPLETION : {}), model: MODELS[kind] }
  if (kind === 'chat' && route.relays === true && !Object.keys(body).some((name) => /^max_\w*tokens$/.test(name))) {
    throw new TypeError(
      `the first request in lib/openapi/examples/${route.operation}.json needs a small limit of its output, such as max_tokens: 50: without one it costs more than the tenants of the tests have`,
    )
  }
  return {
    ...route,
    kind,
    speaks,
    body,
    reply: speaks === undefined ? reply : chatAnswer(),
    /** What its upstream streams; undefined for a route without streams. */
    stream: speaks === undefined || stream === undefined ? stream : [word('Hi'), FINISH, USAGE_CHUNK, DONE].join(''),
    unserved: UNSERVED[kind],
  }
}

/** A count of tokens is below the route of its messages. */
function endpointOf({ operation, path }: Route<Operation>) {
  const found = Object.values<ModelEndpoint>(MODEL_ENDPOINTS).find((each) => path.startsWith(each.path))
  if (found === undefined || found.kind === 'video') {
    throw new TypeError(`${operation} uses no model of a relayed kind`)
  }
  return { ...found, kind: found.kind }
}

export type RelayedRoute = ReturnType<typeof sampled>

/** Every route that relays, with its sample. */
export const RELAYED: readonly RelayedRoute[] = RELAYED_ROUTES.map(sampled)

/** Those that are billed, and fail with their upstream. */
export const BILLED: readonly RelayedRoute[] = RELAYED.filter(({ relays }) => relays === true)

/** @throws TypeError for an operation that is not relayed. */
export function relayedRoute(operation: Operation): RelayedRoute {
  const found = RELAYED.find((route) => route.operation === operation)
  if (found === undefined) {
    throw new TypeError(`${operation} is not relayed`)
  }
  return found
}

type ErrorFields = { readonly [Name in 'message' | 'type' | 'param' | 'code']?: unknown }

/** An error of these fields as a route writes it: that of messages has no `param` and `code`, and types of its own. */
export function errorIn({ path }: Pick<Route, 'path'>, error: ErrorFields): object {
  const { message = expect.any(String) } = error
  return errorShapeOf(path) === 'messages' ? { type: 'error', error: { type: expect.any(String), message } } : { error }
}
