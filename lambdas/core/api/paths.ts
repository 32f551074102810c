import type { ConversationApi } from '../catalogue/apis.ts'
import type { Model } from '../catalogue/model.ts'
import { nearestName } from '../nearest-name.ts'

/** The shapes of an error body. */
export type ErrorShape = 'video' | 'messages' | 'openai'

/** A route that makes something with a model, as `endpoints` of the model name it. */
export type ModelEndpoint = {
  readonly path: string
  /** Of the models that it takes. */
  readonly kind: Model['kind']
  /** What an upstream must speak, or what is translated for it. Left out for a route that every channel of the model serves. */
  readonly speaks?: ConversationApi
  /** The field of its body with the prompt: a text, a list of texts, or a list of messages. */
  readonly prompt: string
}

/** In the order in which clients see them. */
export const MODEL_ENDPOINTS = {
  chat: { path: '/v1/chat/completions', kind: 'chat', speaks: 'chat', prompt: 'messages' },
  completions: { path: '/v1/completions', kind: 'chat', speaks: 'chat', prompt: 'prompt' },
  responses: { path: '/v1/responses', kind: 'chat', speaks: 'responses', prompt: 'input' },
  messages: { path: '/v1/messages', kind: 'chat', speaks: 'messages', prompt: 'messages' },
  embeddings: { path: '/v1/embeddings', kind: 'embedding', prompt: 'input' },
  images: { path: '/v1/images/generations', kind: 'image', prompt: 'prompt' },
  videos: { path: '/v1/video/generations', kind: 'video', prompt: 'prompt' },
} as const satisfies Readonly<Record<string, ModelEndpoint>>

/** Those that take models of a kind. */
export function endpointsOfKind(kind: Model['kind']): readonly ModelEndpoint[] {
  return Object.values<ModelEndpoint>(MODEL_ENDPOINTS).filter((route) => route.kind === kind)
}

/**
 * Paths under `/v1/video/` have the shape `{"error": string}`, those under `/v1/messages` the one of the Anthropic API; all others, unknown
 * ones included, have the OpenAI shape.
 */
export function errorShapeOf(path: string): ErrorShape {
  const isBelow = (root: string) => path === root || path.startsWith(`${root}/`)
  return isBelow('/v1/video') ? 'video' : LIKE_MESSAGES.test(path) ? 'messages' : 'openai'
}

/** Also where SDKs send messages when their base url has one `/v1` too few or too many, so that they show what the 404 says. */
const LIKE_MESSAGES = /^(?:\/v1)*\/messages(?:\/|$)/

/** What OpenAI's API can do with a response that it has kept. */
const KEPT_RESPONSE =
  /^(?:(?:GET|DELETE) \/v1\/responses\/[^/]+(?:\/input_items)?|POST \/v1\/responses\/[^/]+\/cancel)$/

/** The paths of OpenAI's API for videos, whose routes have other names here. */
const OPENAI_VIDEOS = /^\/v1\/(?:videos(?:\/generations?)?(?=\/|$)|video$)/

/** Longer than any path that a client could mean. */
const PATH_CHARACTERS_SHOWN = 128

/** What a request to a path without an operation is told. @param routes every route that is served. */
export function notServedMessage(method: string, path: string, routes: readonly string[]): string {
  if (KEPT_RESPONSE.test(`${method} ${path}`)) {
    return 'the gateway keeps no responses: it has none to fetch, cancel or delete'
  }
  const shown = path.slice(0, PATH_CHARACTERS_SHOWN)
  const nearest = nearestRoute(method, shown, routes)
  const meant = nearest === undefined ? '.' : `: did you mean ${nearest}?`
  return `${method} ${shown} is not served${meant} A base url ends in /v1, except in Anthropic's own SDK and Claude Code, which add it. The routes are ${routes.join(', ')}`
}

/** The route of the method whose path is the nearest, if any is near; of another method only for the very path, in other letters. */
function nearestRoute(method: string, path: string, routes: readonly string[]): string | undefined {
  const typed = path.replace(/\/+$/, '').replace(OPENAI_VIDEOS, MODEL_ENDPOINTS.videos.path)
  const segments = typed.split('/')
  const concrete = (route: string) => {
    const template = route.slice(route.indexOf(' ') + 1).split('/')
    return template.length === segments.length
      ? template.map((segment, index) => (segment.startsWith('{') ? segments[index] : segment)).join('/')
      : template.join('/')
  }
  const ofMethod = new Map(
    routes.flatMap((route) => (route.startsWith(`${method} `) ? [[concrete(route), route] as const] : [])),
  )
  const isSame = (route: string) => concrete(route).toLowerCase() === typed.toLowerCase()
  return ofMethod.get(nearestName(typed, ofMethod.keys()) ?? '') ?? routes.find(isSame)
}

/** The percent-decoded path parameters; undefined if the concrete path does not match the template. */
export function matchPath(template: string, path: string): Record<string, string> | undefined {
  const expected = template.split('/')
  const actual = path.split('/')
  if (expected.length !== actual.length) {
    return undefined
  }
  const parameters: Record<string, string> = {}
  for (const [index, segment] of expected.entries()) {
    const value = actual[index] ?? ''
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name === undefined ? segment !== value : value === '') {
      return undefined
    }
    if (name !== undefined) {
      parameters[name] = decodeSegment(value)
    }
  }
  return parameters
}

/** A malformed escape stays as it is: an id that does not exist. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * The server in the committed OpenAPI document: the address of `npm start`. A deployment serves the document with its own
 * address, without a trailing slash, because clients append paths to it (OpenAPI 3.1, "Paths Object").
 */
export const DOCUMENT_SERVER = 'http://127.0.0.1:8787'
