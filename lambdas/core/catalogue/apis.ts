import type { RelayChannel } from './channel.ts'

/** The APIs in which agents and chats speak to a route, or the gateway to an upstream. */
export type ConversationApi = 'chat' | 'responses' | 'messages'

/** Where an upstream has an API: a path below `base_url`, which is the one of the channel where it is left out. */
export type ApiPlace = { readonly path: string; readonly base_url?: string | undefined }

type Speaker = Pick<RelayChannel, 'apis' | 'models'>

const DEFAULT_APIS: NonNullable<RelayChannel['apis']> = { chat: '/chat/completions' }

/** The upstream's id of a model. */
export function upstreamModelOf({ models }: Pick<Speaker, 'models'>, modelId: string): string {
  const model = models[modelId]
  return typeof model === 'object' ? model.id : (model ?? modelId)
}

/** Where the upstream of a channel has an API for a model; undefined for an API that it does not speak. */
export function placeOf(api: ConversationApi, { apis, models }: Speaker, modelId: string): ApiPlace | undefined {
  const model = models[modelId]
  const place = ((typeof model === 'object' ? model.apis : undefined) ?? apis ?? DEFAULT_APIS)[api]
  return typeof place === 'string' ? { path: place } : place
}

/** The APIs by which a route can be served, the best one first: its own, and those that it is translated to. */
const SERVED_BY: Readonly<Record<ConversationApi, readonly ConversationApi[]>> = {
  chat: ['chat', 'messages'],
  responses: ['responses', 'chat', 'messages'],
  messages: ['messages', 'chat'],
}

/** How well an API serves a route: 0 for its own, then one more for each translation. */
export function rankOfApi(route: ConversationApi, api: ConversationApi): number {
  return SERVED_BY[route].indexOf(api)
}

/** The API by which a channel serves a route for a model; undefined if it cannot. */
export function servingApi(route: ConversationApi, channel: Speaker, modelId: string): ConversationApi | undefined {
  return SERVED_BY[route].find((api) => placeOf(api, channel, modelId) !== undefined)
}
