import type { PassedBody } from '#core/allowed-fields.ts'
import { type AgentRequest, servingOf } from '#core/api/agent-request.ts'
import { leftOutOf, type Passed, passesAll } from '#core/api/gated-fields.ts'
import { type ConversationApi, rankOfApi, servingApi } from '#core/catalogue/apis.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import type { ChatModel } from '#core/catalogue/model.ts'
import { replaceFields, withoutFields } from '#core/json/json-fields.ts'
import { isJsonObject, type JsonObject } from '#core/json/parse-json-text.ts'
import type { ClientRequest } from '../relay-protocol.ts'

/** Ranks the channels for a request; a channel that does not pass a tool that the request needs cannot serve it. */
export function rankChannels(route: ConversationApi, { model, gated }: Pick<AgentRequest, 'model' | 'gated'>) {
  return (channel: RelayChannel): number | undefined => {
    const serving = servingOf(route, channel, model.id)
    return serving !== undefined && passesAll(gated, serving.passed) ? rankOfApi(route, serving.api) : undefined
  }
}

/** What stands for the session of a client that names none: the key of its cache, or the session of Claude Code or of Codex. */
export function sessionOf({ prompt_cache_key: key }: JsonObject, { header }: Pick<ClientRequest, 'header'>) {
  const cacheKey = typeof key === 'string' && key !== '' ? key : undefined
  return cacheKey ?? header('x-claude-code-session-id') ?? header('session-id')
}

/** The same for a route whose requests need nothing in particular. */
export function rankSpeakers(route: ConversationApi, { id }: Pick<ChatModel, 'id'>) {
  return (channel: RelayChannel): number | undefined => {
    const api = servingApi(route, channel, id)
    return api && rankOfApi(route, api)
  }
}

/** What the channels of a model pass on a route. */
export function passedByChannels(
  route: ConversationApi,
  { id }: AgentRequest['model'],
  { catalogue }: Pick<ClientRequest, 'catalogue'>,
): readonly Passed[] {
  return catalogue.configuredRelayChannels(id).map((channel) => servingOf(route, channel, id)?.passed ?? [])
}

/**
 * The body for an upstream with the API of the route: as the client wrote it, but for what the gateway writes and what the channel does not
 * pass.
 * @param written JSON by the name of its field.
 */
export function nativeBody(
  text: string,
  { body, gated }: Pick<AgentRequest, 'body' | 'gated'>,
  { passed, written }: { readonly passed: Passed; readonly written: ReadonlyMap<string, string> },
): PassedBody {
  const { fields, toolTypes, names } = leftOutOf(gated, passed)
  const kept = fields.length === 0 ? text : withoutFields(text, new Set(fields))
  const all = new Map(written)
  for (const name of toolTypes.size === 0 ? [] : ['tools', 'input']) {
    if (body[name] !== undefined && typeof body[name] !== 'string') {
      all.set(name, JSON.stringify(withoutTools(body[name], toolTypes)))
    }
  }
  return { text: replaceFields(kept, all), ignored: names }
}

/** A list of tools, or of items with tools, without those of some types. */
function withoutTools(list: unknown, types: ReadonlySet<string>): unknown {
  if (!Array.isArray(list)) {
    return list
  }
  const offered = list.filter((entry) => !(isJsonObject(entry) && types.has(String(entry.type))))
  return offered.map((entry: unknown) =>
    isJsonObject(entry) && Array.isArray(entry.tools) ? { ...entry, tools: withoutTools(entry.tools, types) } : entry,
  )
}
