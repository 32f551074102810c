import { STOPS_MAX } from '../api/chat-request.ts'
import { asText, isJsonObject, type JsonObject, objectsOf } from '../json/parse-json-text.ts'
import { ChatMessages, type ChatPart, contentOf, type ReasoningField, textOf } from './chat-messages.ts'
import {
  type ChatTranslation,
  fieldsAt,
  isOfClient,
  needStrings,
  notEmpty,
  refuse,
  refusePart,
  refuseType,
  textAt,
} from './responses-to-chat.ts'
import { originalId, ToolNames } from './tool-names.ts'
import { isSet, type Reads, unreadFields, whole } from './unread-fields.ts'

/** Thoughts, which only their author can read, and results, which hold blocks. */
const BLOCKS_READ: Reads = {
  ...whole('type', 'text', 'id', 'name', 'input', 'tool_use_id', 'thinking', 'signature', 'data'),
  source: whole('type', 'media_type', 'data', 'url'),
  is_error: isSet,
  get content() {
    return BLOCKS_READ
  },
}

const READS: Reads = {
  ...whole('model', 'max_tokens', 'stream', 'temperature', 'top_p', 'stop_sequences'),
  tool_choice: whole('type', 'name', 'disable_parallel_tool_use'),
  messages: { role: true, content: BLOCKS_READ },
  system: whole('type', 'text'),
  tools: whole('type', 'name', 'description', 'input_schema', 'strict'),
  output_config: whole('effort', 'format'),
  thinking: (value) => !isJsonObject(value) || value.type !== 'disabled',
  // Read by the gateway: it may count users.
  metadata: whole('user_id'),
}

/**
 * Translates a request for a message to a chat request.
 * @param body was checked.
 * @throws InvalidRequestError naming what has no counterpart.
 */
export function messagesToChat(body: JsonObject, reasoningField?: ReasoningField): ChatTranslation {
  const { temperature, top_p, stop_sequences: stop, output_config: config } = body
  if (Array.isArray(stop) && stop.length > STOPS_MAX) {
    refuse(
      'stop_sequences',
      `\`stop_sequences\` must be at most ${STOPS_MAX} strings, the most that an upstream of this model takes`,
    )
  }
  const names = new ToolNames()
  const { offered, ignored } = toolsOf(body.tools, names)
  const chat = {
    messages: messagesOf(body, { names, reasoningField }),
    ...(offered.length === 0 ? {} : { tools: offered, ...choiceFields(body.tool_choice, names) }),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof top_p === 'number' ? { top_p } : {}),
    ...(Array.isArray(stop) && stop.length > 0 ? { stop } : {}),
    ...configFields(fieldsAt(config, 'output_config')),
  }
  const unread = unreadFields({ ...body, tools: objectsOf(body.tools).filter(isOfClient) }, READS)
  const { type: chosen } = fieldsAt(body.tool_choice, 'tool_choice')
  const isChosen = offered.length === 0 && chosen !== undefined && chosen !== 'auto' && chosen !== 'none'
  return { chat, names, ignored: [...unread, ...ignored, ...(isChosen ? ['tool_choice'] : [])] }
}

function toolsOf(tools: unknown, names: ToolNames) {
  const offered: JsonObject[] = []
  const ignored: string[] = []
  for (const [index, tool] of objectsOf(tools).entries()) {
    const { type, name, description, input_schema: parameters, strict } = tool
    if (type == null || type === 'custom') {
      needStrings(tool, ['name'], `tools.${index}`)
      const described = typeof description === 'string' ? { description } : {}
      const more = typeof strict === 'boolean' ? { strict } : {}
      const named = { name: names.upstreamOf({ name: asText(name) }), ...described }
      offered.push({ type: 'function', function: { ...named, parameters: parameters ?? { type: 'object' }, ...more } })
    } else if (typeof type === 'string' && type.startsWith('web_search')) {
      ignored.push(`tools.${type}`)
    } else {
      refuseType(`tools.${index}`, type)
    }
  }
  return { offered, ignored }
}

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }

function choiceFields(choice: unknown, names: ToolNames): JsonObject {
  if (!isJsonObject(choice)) {
    return {}
  }
  const { type, name, disable_parallel_tool_use: isSingle } = choice
  needStrings(choice, type === 'tool' ? ['name'] : [], 'tool_choice')
  const chosen =
    type === 'tool'
      ? { type: 'function', function: { name: names.upstreamOf({ name: asText(name) }) } }
      : (CHOICES[asText(type)] ?? refuse('tool_choice.type', '`type` of `tool_choice` must be auto, any, tool or none'))
  return { tool_choice: chosen, ...(isSingle === true ? { parallel_tool_calls: false } : {}) }
}

/** The name of the one schema of an answer, which chat upstreams want. */
const SCHEMA_NAME = 'output'

function configFields({ effort: asked, format }: JsonObject): JsonObject {
  const { type, schema } = fieldsAt(format, 'output_config.format')
  if (format != null && type !== 'json_schema') {
    refuse('output_config.format.type', '`type` of `output_config.format` must be json_schema')
  }
  const effort = textAt(asked, 'output_config.effort')
  return {
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(type === 'json_schema'
      ? { response_format: { type, json_schema: { name: SCHEMA_NAME, schema, strict: true } } }
      : {}),
  }
}

/** Claude Code says here who is billed: nothing for a model, and different for each version. */
const ATTRIBUTION = 'x-anthropic-billing-header:'

type Reading = { readonly names: ToolNames; readonly reasoningField: ReasoningField }

function messagesOf(body: JsonObject, { names, reasoningField }: Reading): readonly JsonObject[] {
  const asked = objectsOf(body.messages)
  const messages = new ChatMessages(outputsOf(asked), reasoningField)
  const system = partsOf(body.system, 'system').filter(
    (part) => !(part.type === 'text' && part.text.startsWith(ATTRIBUTION)),
  )
  if (system.length > 0) {
    messages.other({ role: 'system', content: textOf(system, '\n\n') })
  }
  for (const [index, { role, content }] of asked.entries()) {
    const path = `messages.${index}.content`
    if (role === 'assistant') {
      readAssistant(content, { path, messages, names })
    } else if (role === 'system') {
      messages.other({ role, content: textOf(partsOf(content, path), '\n\n') })
    } else {
      readUser(content, { path, messages })
    }
  }
  return notEmpty(messages.end(), 'messages')
}

type Turn = { readonly path: string; readonly messages: ChatMessages }

function readAssistant(content: unknown, { path, messages, names }: Turn & Pick<Reading, 'names'>): void {
  const blocks = blocksOf(content)
  const thought = blocks.filter(({ type }) => type === 'thinking').map(({ thinking }) => asText(thinking ?? ''))
  messages.reasoning(thought.join('\n\n'))
  const parts = blocks.flatMap((block, index) =>
    THOUGHTS.has(block.type) || block.type === 'tool_use' ? [] : [partOf(block, `${path}.${index}`)],
  )
  messages.assistant(textOf(parts, ''))
  for (const [index, block] of blocks.entries()) {
    const { type, id, name, input } = block
    if (type === 'tool_use') {
      needStrings(block, ['id', 'name'], `${path}.${index}`)
      messages.call({
        id: originalId(asText(id)),
        type: 'function',
        function: { name: names.upstreamOf({ name: asText(name) }), arguments: JSON.stringify(input ?? {}) },
      })
    }
  }
}

const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

/** The results of tools come first, whatever stands before them. */
function readUser(content: unknown, { path, messages }: Turn): void {
  const blocks = blocksOf(content)
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'tool_result') {
      needStrings(block, ['tool_use_id'], `${path}.${index}`)
      messages.output(originalId(asText(block.tool_use_id)))
    }
  }
  const parts = blocks.flatMap((block, index) =>
    block.type === 'tool_result' ? [] : [partOf(block, `${path}.${index}`)],
  )
  if (parts.length > 0) {
    messages.other({ role: 'user', content: contentOf(parts) })
  }
}

function outputsOf(messages: readonly JsonObject[]): ReadonlyMap<string, readonly ChatPart[]> {
  const outputs = new Map<string, readonly ChatPart[]>()
  for (const [index, { content }] of messages.entries()) {
    for (const [place, block] of blocksOf(content).entries()) {
      if (block.type === 'tool_result') {
        const path = `messages.${index}.content.${place}.content`
        outputs.set(originalId(asText(block.tool_use_id)), partsOf(block.content, path))
      }
    }
  }
  return outputs
}

function partsOf(content: unknown, path: string): readonly ChatPart[] {
  return blocksOf(content).map((block, index) => partOf(block, `${path}.${index}`))
}

function partOf(block: JsonObject, path: string): ChatPart {
  const { type, text, source } = block
  if (type === 'text' && typeof text === 'string') {
    return { type, text }
  }
  const url = type === 'image' && isJsonObject(source) ? imageUrl(source) : undefined
  return url === undefined ? refusePart(path, type, 'messages') : { type: 'image_url', image_url: { url } }
}

function imageUrl({ type, media_type: mediaType, data, url }: JsonObject): string | undefined {
  if (type === 'base64' && typeof data === 'string' && typeof mediaType === 'string') {
    return `data:${mediaType};base64,${data}`
  }
  return type === 'url' && typeof url === 'string' ? url : undefined
}

/** A string is one block of text. */
function blocksOf(content: unknown): readonly JsonObject[] {
  return typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : objectsOf(content)
}
