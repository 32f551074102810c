import { InvalidRequestError } from '../errors.ts'
import { asText, isJsonObject, type JsonObject, objectsOf, parseJsonObject } from '../json/parse-json-text.ts'
import { type ChatTranslation, refuse, refusePart, refuseType } from './responses-to-chat.ts'
import { plainId, ToolNames } from './tool-names.ts'
import { isSet, type Reads, unreadFields, whole } from './unread-fields.ts'

const READS: Reads = {
  ...whole('model', 'max_tokens', 'max_completion_tokens', 'stream', 'n', 'temperature', 'top_p', 'stop'),
  ...whole('tool_choice', 'parallel_tool_calls', 'reasoning_effort'),
  messages: {
    ...whole('role', 'tool_call_id'),
    content: { ...whole('type', 'text', 'refusal'), image_url: { url: true, detail: (value) => value !== 'auto' } },
    tool_calls: { ...whole('id', 'type'), function: whole('name', 'arguments') },
  },
  tools: { type: true, function: { ...whole('name', 'description', 'parameters'), strict: isSet } },
  response_format: (value) => isJsonObject(value) && value.type === 'json_object',
  stream_options: { include_usage: true, include_obfuscation: isSet },
  store: isSet,
  logprobs: isSet,
  top_logprobs: (value) => value !== 0,
  // Read by the gateway: it may count users.
  user: true,
}

/** The highest temperature of the Anthropic API. */
const TEMPERATURE_MAX = 1

/** The names of the tools of a chat request, the same each time. */
export function messagesToolNames({ tools }: JsonObject): ToolNames {
  const names = new ToolNames()
  for (const { function: called } of objectsOf(tools)) {
    names.upstreamOf({ name: asText(isJsonObject(called) ? called.name : '') })
  }
  return names
}

/**
 * Translates a chat request to a request for a message, without its model, its limit and its stream.
 * @param body was checked.
 * @throws InvalidRequestError naming what has no counterpart.
 */
export function chatToMessagesRequest(body: JsonObject): ChatTranslation {
  const { n, temperature, top_p, stop } = body
  if (typeof n === 'number' && n > 1) {
    throw new InvalidRequestError([{ path: 'n', message: '`n` must be 1 for this model' }])
  }
  const names = messagesToolNames(body)
  const { system, messages } = messagesOf(body, names)
  const stops = typeof stop === 'string' ? [stop] : stop
  const chat = {
    ...(system === '' ? {} : { system }),
    messages,
    ...toolFields(body, names),
    ...(typeof temperature === 'number' ? { temperature: Math.min(temperature, TEMPERATURE_MAX) } : {}),
    ...(typeof top_p === 'number' ? { top_p } : {}),
    ...(Array.isArray(stops) && stops.length > 0 ? { stop_sequences: stops } : {}),
    ...outputFields(body),
  }
  return { chat, names, ignored: unreadFields(body, READS) }
}

function toolFields(body: JsonObject, names: ToolNames): JsonObject {
  const tools = objectsOf(body.tools).flatMap(({ function: called }) => {
    const { name, description, parameters }: JsonObject = isJsonObject(called) ? called : {}
    const described = typeof description === 'string' ? { description } : {}
    const schema = isJsonObject(parameters) ? { type: 'object', ...parameters } : { type: 'object', properties: {} }
    return [{ name: names.upstreamOf({ name: asText(name) }), ...described, input_schema: schema }]
  })
  const choice = choiceOf(body, names)
  return tools.length === 0 ? {} : { tools, ...(choice === undefined ? {} : { tool_choice: choice }) }
}

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', required: 'any', none: 'none' }

function choiceOf({ tool_choice: choice, parallel_tool_calls: parallel }: JsonObject, names: ToolNames) {
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  if (isJsonObject(choice)) {
    const name = isJsonObject(choice.function) ? choice.function.name : undefined
    return name === undefined
      ? refuseType('tool_choice', choice.type)
      : { type: 'tool', name: names.upstreamOf({ name: asText(name) }), ...single }
  }
  const type = typeof choice === 'string' ? CHOICES[choice] : parallel === false ? 'auto' : undefined
  return type === undefined ? undefined : { type, ...(type === 'none' ? {} : single) }
}

/** Efforts of the chat API for less than the lowest one. */
const LOWEST: ReadonlySet<string> = new Set(['none', 'minimal'])

function outputFields({ response_format: format, reasoning_effort: effort }: JsonObject): JsonObject {
  const { type, json_schema: wanted }: JsonObject = isJsonObject(format) ? format : {}
  const schema = isJsonObject(wanted) ? wanted.schema : undefined
  const config = {
    ...(typeof effort === 'string' ? { effort: LOWEST.has(effort) ? 'low' : effort } : {}),
    ...(type === 'json_schema' && isJsonObject(schema) ? { format: { type, schema } } : {}),
  }
  return Object.keys(config).length === 0 ? {} : { output_config: config }
}

type Turn = { readonly role: 'user' | 'assistant'; readonly content: JsonObject[] }

/** Messages of one role in a row are one message, whose results of tools come first. */
function messagesOf(body: JsonObject, names: ToolNames) {
  const system: string[] = []
  const turns: Turn[] = []
  const add = (role: Turn['role'], blocks: readonly JsonObject[]) => {
    const last = turns.at(-1)
    if (last?.role === role) {
      last.content.push(...blocks)
    } else if (blocks.length > 0) {
      turns.push({ role, content: [...blocks] })
    }
  }
  for (const [index, message] of objectsOf(body.messages).entries()) {
    const path = `messages.${index}`
    const { role } = message
    if (role === 'system' || role === 'developer') {
      system.push(...blocksOf(message.content, path).map(({ text }) => asText(text)))
    } else if (role === 'user') {
      add('user', blocksOf(message.content, `${path}.content`))
    } else if (role === 'tool') {
      const content = blocksOf(message.content, `${path}.content`)
      add('user', [{ type: 'tool_result', tool_use_id: plainId(asText(message.tool_call_id)), content }])
    } else if (role === 'assistant') {
      add('assistant', [...blocksOf(message.content, `${path}.content`), ...callsOf(message, names)])
    } else {
      refuse(
        `${path}.role`,
        `the upstreams of this model take no messages of the role ${role}: use tool, with \`tool_call_id\``,
      )
    }
  }
  return { system: system.join('\n\n'), messages: turns }
}

function callsOf({ tool_calls: calls }: JsonObject, names: ToolNames): readonly JsonObject[] {
  return objectsOf(calls).map(({ id, function: called }) => {
    const { name, arguments: text }: JsonObject = isJsonObject(called) ? called : {}
    const input = parseJsonObject(asText(text ?? '')) ?? {}
    return { type: 'tool_use', id: plainId(asText(id)), name: names.upstreamOf({ name: asText(name) }), input }
  })
}

/** The Anthropic API takes no empty text. */
function blocksOf(content: unknown, path: string): readonly JsonObject[] {
  if (typeof content === 'string') {
    return content === '' ? [] : [{ type: 'text', text: content }]
  }
  return objectsOf(content).flatMap((part, index) => blockOf(part, `${path}.${index}`))
}

const DATA_URL = /^data:(image\/[a-z0-9.+-]+);base64,(.*)$/is

function blockOf(part: JsonObject, path: string): readonly JsonObject[] {
  const { type, text, refusal, image_url: image } = part
  if (type === 'text' || type === 'refusal') {
    const written = asText(text ?? refusal ?? '')
    return written === '' ? [] : [{ type: 'text', text: written }]
  }
  const url = isJsonObject(image) ? image.url : image
  if (type !== 'image_url' || typeof url !== 'string') {
    return refusePart(path, type, 'messages')
  }
  const [, media_type, data] = DATA_URL.exec(url) ?? []
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type, data }
  return [{ type: 'image', source }]
}
