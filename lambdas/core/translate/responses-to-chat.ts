import { partFormMessage } from '../api/content-parts.ts'
import { NO_FUNCTION } from '../api/gated-fields.ts'
import { InvalidRequestError } from '../errors.ts'
import { asText, isJsonObject, type JsonObject, objectsOf } from '../json/parse-json-text.ts'
import { type ChatCall, ChatMessages, type ChatPart, contentOf, type ReasoningField, textOf } from './chat-messages.ts'
import { ToolNames } from './tool-names.ts'
import { isSet, type Reads, unreadFields, whole } from './unread-fields.ts'

/** A request of another API for a chat upstream, without its model, its limit and its stream. */
export type ChatTranslation = {
  readonly chat: JsonObject
  readonly names: ToolNames
  /** Paths of what has no counterpart. */
  readonly ignored: readonly string[]
}

/** @throws InvalidRequestError always */
export function refuse(path: string, message: string): never {
  throw new InvalidRequestError([{ path, message }])
}

/** An upstream of this model speaks another API, which has no place for something. @throws InvalidRequestError always */
export function refuseType(path: string, type: unknown): never {
  const named = typeof type === 'string' && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(type) ? ` of the type ${type}` : ''
  return refuse(
    path,
    type === 'function'
      ? NO_FUNCTION
      : `what is${named} here is incomplete, or has no counterpart at the upstreams of this model: complete it or leave it out`,
  )
}

/** The same for a part of a message, which may be written as in another API. @throws InvalidRequestError always */
export function refusePart(path: string, type: unknown, api: 'responses' | 'messages'): never {
  const message = partFormMessage(type, api)
  return message === undefined ? refuseType(path, type) : refuse(path, message)
}

/** @throws InvalidRequestError for the first of these fields that is no string. */
export function needStrings(value: JsonObject, names: readonly string[], path: string): void {
  const missing = names.find((name) => typeof value[name] !== 'string')
  if (missing !== undefined) {
    refuse(`${path}.${missing}`, `\`${missing}\` is required and must be a string here`)
  }
}

/** The fields of an optional object. @throws InvalidRequestError for another value. */
export function fieldsAt(value: unknown, path: string): JsonObject {
  return value == null ? {} : isJsonObject(value) ? value : refuse(path, `\`${path}\` must be an object`)
}

/** An optional text. @throws InvalidRequestError for another value. */
export function textAt(value: unknown, path: string): string | undefined {
  return value == null ? undefined : typeof value === 'string' ? value : refuse(path, `\`${path}\` must be a string`)
}

/** @throws InvalidRequestError for a conversation without a message, which no chat upstream takes. */
export function notEmpty(messages: readonly JsonObject[], path: string): readonly JsonObject[] {
  return messages.length === 0 ? refuse(path, `\`${path}\` must have some content`) : messages
}

/** Fields with the same name and meaning in both APIs. */
const SAME = [
  ...(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'metadata', 'user'] as const),
  ...(['safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'] as const),
]

const LOGPROBS = 'message.output_text.logprobs'

/** Of a part of a reply that is sent back, an upstream made the last two. */
const PARTS_READ = whole('type', 'text', 'refusal', 'image_url', 'detail', 'annotations', 'logprobs')

const TOOLS_READ: Reads = {
  ...whole('type', 'name', 'description', 'parameters', 'strict', 'format'),
  get tools() {
    return TOOLS_READ
  },
}

const READS: Reads = {
  // The gateway keeps no responses.
  store: isSet,
  ...whole('model', 'instructions', 'stream', 'background', 'max_output_tokens', 'tool_choice', 'parallel_tool_calls'),
  ...whole('top_logprobs', ...SAME),
  input: {
    ...whole('type', 'id', 'status', 'role', 'call_id', 'name', 'namespace', 'arguments', 'input', 'encrypted_content'),
    content: PARTS_READ,
    output: PARTS_READ,
    summary: whole('type', 'text'),
    tools: TOOLS_READ,
  },
  tools: TOOLS_READ,
  text: whole('format', 'verbosity'),
  reasoning: whole('effort'),
  include: (value) => Array.isArray(value) && value.some((entry) => entry !== LOGPROBS),
  truncation: (value) => value !== 'disabled',
  stream_options: { include_obfuscation: isSet },
}

/**
 * Translates a request for a response to a chat request.
 * @param body was checked.
 * @throws InvalidRequestError naming what has no counterpart.
 */
export function responsesToChat(body: JsonObject, reasoningField?: ReasoningField): ChatTranslation {
  const names = new ToolNames()
  const tools = toolsOf(body, names)
  const isChosen =
    tools.offered.length === 0 && ![undefined, null, 'auto', 'none'].some((each) => each === body.tool_choice)
  const messages = messagesOf(body, { names, reasoningField })
  const chat = {
    messages,
    ...Object.fromEntries(SAME.filter((name) => body[name] != null).map((name) => [name, body[name]])),
    ...(tools.offered.length === 0 ? {} : chosenTools(body, tools.offered, names)),
    ...textFields(body.text),
    ...reasoningFields(body.reasoning),
    ...logprobFields(body),
  }
  const unread = unreadFields({ ...body, tools: objectsOf(body.tools).filter(isOfClient) }, READS)
  return { chat, names, ignored: [...unread, ...tools.ignored, ...(isChosen ? ['tool_choice'] : [])] }
}

/** Whether a tool is one that is translated: a search is left out as a whole. */
export function isOfClient({ type }: JsonObject): boolean {
  return !asText(type).startsWith('web_search')
}

type Tools = { readonly offered: readonly JsonObject[]; readonly ignored: readonly string[] }

function toolsOf({ tools, input }: JsonObject, names: ToolNames): Tools {
  const inInput = objectsOf(input).flatMap((item, index) =>
    item.type === 'additional_tools' ? [{ tools: item.tools, path: `input.${index}.tools` }] : [],
  )
  const all = [{ tools, path: 'tools' }, ...inInput].map((list) => offeredTools(list.tools, { names, path: list.path }))
  return { offered: all.flatMap(({ offered }) => offered), ignored: all.flatMap(({ ignored }) => ignored) }
}

type Offering = { readonly names: ToolNames; readonly path: string; readonly namespace?: string }

function offeredTools(tools: unknown, { names, path, namespace }: Offering): Tools {
  const offered: JsonObject[] = []
  const ignored: string[] = []
  for (const [index, tool] of objectsOf(tools).entries()) {
    const here = `${path}.${index}`
    const { type, name, description, parameters, strict } = tool
    if (type === 'function' && typeof name === 'string') {
      const upstream = names.upstreamOf({ name, namespace })
      const more = typeof strict === 'boolean' ? { strict } : {}
      offered.push(chatFunction(upstream, description, parameters ?? { type: 'object', properties: {} }, more))
    } else if (type === 'custom' && typeof name === 'string') {
      const upstream = names.upstreamOf({ name, namespace, isCustom: true })
      offered.push(chatFunction(upstream, customDescription(tool), CUSTOM_PARAMETERS))
    } else if (type === 'namespace' && typeof name === 'string') {
      const inner = offeredTools(tool.tools, { names, path: `${here}.tools`, namespace: name })
      offered.push(...inner.offered)
      ignored.push(...inner.ignored)
    } else if (typeof type === 'string' && type.startsWith('web_search')) {
      ignored.push(`tools.${type}`)
    } else {
      refuseType(here, type)
    }
  }
  return { offered, ignored }
}

function chatFunction(name: string, description: unknown, parameters: unknown, more: object = {}): JsonObject {
  const described = typeof description === 'string' ? { description } : {}
  return { type: 'function', function: { name, ...described, parameters, ...more } }
}

/** The one parameter of a custom tool. */
export const CUSTOM_INPUT = 'input'

const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { [CUSTOM_INPUT]: { type: 'string' } },
  required: [CUSTOM_INPUT],
  additionalProperties: false,
}

function customDescription({ description, format }: JsonObject): string {
  const { type, syntax, definition }: JsonObject = isJsonObject(format) ? format : {}
  const grammar = type === 'grammar' ? [`\`${CUSTOM_INPUT}\` follows this grammar (${syntax}):\n${definition}`] : []
  return [...(typeof description === 'string' ? [description] : []), ...grammar].join('\n\n')
}

/** Tools that the choice does not allow are left out, because few upstreams know a list of allowed ones. */
function chosenTools(
  { tool_choice: choice, parallel_tool_calls: parallel }: JsonObject,
  offered: readonly JsonObject[],
  names: ToolNames,
): JsonObject {
  const more = typeof parallel === 'boolean' ? { parallel_tool_calls: parallel } : {}
  if (!isJsonObject(choice)) {
    return { tools: offered, ...(typeof choice === 'string' ? { tool_choice: choice } : {}), ...more }
  }
  if (choice.type === 'allowed_tools') {
    const allowed = new Set(objectsOf(choice.tools).map((tool) => upstreamNameOf(tool, names)))
    const tools = offered.filter((tool) => isJsonObject(tool.function) && allowed.has(asText(tool.function.name)))
    return tools.length === 0 ? {} : { tools, tool_choice: choice.mode ?? 'auto', ...more }
  }
  if ((choice.type !== 'function' && choice.type !== 'custom') || typeof choice.name !== 'string') {
    refuseType('tool_choice', choice.type)
  }
  return {
    tools: offered,
    tool_choice: { type: 'function', function: { name: upstreamNameOf(choice, names) } },
    ...more,
  }
}

function upstreamNameOf({ name, namespace, type }: JsonObject, names: ToolNames): string {
  const isCustom = type === 'custom' || type === 'custom_tool_call'
  return names.upstreamOf({
    name: asText(name),
    namespace: typeof namespace === 'string' ? namespace : undefined,
    ...(isCustom ? { isCustom } : {}),
  })
}

function textFields(text: unknown): JsonObject {
  const { format, verbosity: asked } = fieldsAt(text, 'text')
  const { type, ...schema } = fieldsAt(format, 'text.format')
  if (format != null && type !== 'text' && type !== 'json_object' && type !== 'json_schema') {
    refuse('text.format.type', '`type` of `text.format` must be text, json_object or json_schema')
  }
  needStrings(schema, type === 'json_schema' ? ['name'] : [], 'text.format')
  const verbosity = textAt(asked, 'text.verbosity')
  return {
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(type === 'json_object' ? { response_format: { type } } : {}),
    ...(type === 'json_schema' ? { response_format: { type, json_schema: schema } } : {}),
  }
}

function reasoningFields(reasoning: unknown): JsonObject {
  const effort = textAt(fieldsAt(reasoning, 'reasoning').effort, 'reasoning.effort')
  return effort === undefined ? {} : { reasoning_effort: effort }
}

function logprobFields({ top_logprobs: top, include }: JsonObject): JsonObject {
  const isAsked = Array.isArray(include) && include.includes(LOGPROBS)
  const count = typeof top === 'number' && top > 0 ? { top_logprobs: top } : {}
  return isAsked || 'top_logprobs' in count ? { logprobs: true, ...count } : {}
}

type Reading = { readonly names: ToolNames; readonly reasoningField: ReasoningField }

function messagesOf({ input, instructions }: JsonObject, { names, reasoningField }: Reading): readonly JsonObject[] {
  const messages = new ChatMessages(outputsOf(input), reasoningField)
  if (typeof instructions === 'string' && instructions !== '') {
    messages.other({ role: 'system', content: instructions })
  }
  if (typeof input === 'string') {
    messages.other({ role: 'user', content: input })
  }
  for (const [index, item] of objectsOf(input).entries()) {
    readItem(item, { path: `input.${index}`, messages, names })
  }
  return notEmpty(messages.end(), 'input')
}

type ItemReading = { readonly path: string; readonly messages: ChatMessages; readonly names: ToolNames }

/** The fields of items that must be strings. */
const REQUIRED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['function_call', ['call_id', 'name', 'arguments']],
  ['custom_tool_call', ['call_id', 'name', 'input']],
  ['function_call_output', ['call_id']],
  ['custom_tool_call_output', ['call_id']],
])

function readItem(item: JsonObject, { path, messages, names }: ItemReading): void {
  const { type = 'message', role, content, call_id: id } = item
  needStrings(item, REQUIRED.get(type) ?? [], path)
  switch (type) {
    case 'message': {
      const parts = partsOf(content, `${path}.content`)
      if (role === 'assistant') {
        messages.assistant(textOf(parts, ''))
      } else if (role === 'user') {
        messages.other({ role, content: contentOf(parts) })
      } else if (role === 'system' || role === 'developer') {
        messages.other({ role: 'system', content: textOf(parts, '\n\n') })
      } else {
        refuse(`${path}.role`, '`role` must be user, assistant, system or developer')
      }
      break
    }
    case 'function_call':
    case 'custom_tool_call':
      messages.call(callOf(item, names))
      break
    case 'function_call_output':
    case 'custom_tool_call_output':
      messages.output(asText(id))
      break
    case 'reasoning':
      messages.reasoning(reasoningText(item))
      break
    case 'additional_tools':
      break
    default:
      refuseType(path, type)
  }
}

function callOf(item: JsonObject, names: ToolNames): ChatCall {
  const isCustom = item.type === 'custom_tool_call'
  const text = isCustom ? JSON.stringify({ [CUSTOM_INPUT]: item.input }) : asText(item.arguments)
  return {
    id: asText(item.call_id),
    type: 'function',
    function: { name: upstreamNameOf(item, names), arguments: text },
  }
}

/** The content in full, else the summary. What is encrypted only its author can read. */
function reasoningText({ content, summary }: JsonObject): string {
  const full = objectsOf(content).map(({ text }) => text)
  const texts = full.length > 0 ? full : objectsOf(summary).map(({ text }) => text)
  return texts.filter((text) => typeof text === 'string').join('\n\n')
}

function outputsOf(input: unknown): ReadonlyMap<string, readonly ChatPart[]> {
  const outputs = new Map<string, readonly ChatPart[]>()
  for (const [index, { type, call_id: id, output }] of objectsOf(input).entries()) {
    if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      outputs.set(asText(id), partsOf(output, `input.${index}.output`))
    }
  }
  return outputs
}

function partsOf(content: unknown, path: string): readonly ChatPart[] {
  if (typeof content === 'string') {
    return [{ type: 'text', text: content }]
  }
  if (!Array.isArray(content)) {
    refuse(path, `\`${path.slice(path.lastIndexOf('.') + 1)}\` is required and must be a string or an array of parts`)
  }
  return objectsOf(content).map((part, index) => partOf(part, `${path}.${index}`))
}

function partOf(part: JsonObject, path: string): ChatPart {
  const { type, text, refusal, image_url: url, detail } = part
  if ((type === 'input_text' || type === 'output_text' || type === 'text') && typeof text === 'string') {
    return { type: 'text', text }
  }
  if (type === 'refusal') {
    return { type: 'text', text: asText(refusal ?? '') }
  }
  if (type === 'input_image' && typeof url === 'string') {
    return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' ? { detail } : {}) } }
  }
  return refusePart(path, type, 'responses')
}
