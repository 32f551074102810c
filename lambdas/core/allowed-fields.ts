import { JsonScanner, NAME, OPEN, OPEN_BRACE, SCALAR, type Token } from './json/json-scanner.ts'
import { parseJsonText } from './json/parse-json-text.ts'

/**
 * The fields of an object that pass, by exact name: each whole, or an object (or a list of objects) of which some fields pass.
 * `path` is dotted and without indexes, such as `messages.content`; empty for the body.
 */
export type AllowedFields = {
  readonly path: string
  readonly fields: ReadonlyMap<string, AllowedFields | 'whole'>
  /** Of these fields, only the one that `type` names passes. */
  readonly ofType?: ReadonlySet<string>
}

type FieldSpec = { readonly [name: string]: true | FieldSpec }

/** The APIs of upstreams. Legacy completions become chat calls, so the fields that a channel adds to chat pass there too. */
export type RelayedApi = 'chat' | 'embeddings' | 'images'

const FUNCTION = { name: true, description: true, parameters: true, strict: true } as const
const CALLED_FUNCTION = { name: true, arguments: true } as const
const NAMED_FUNCTION = { type: true, function: { name: true } } as const

/** Without audio, which has its own token prices, and without cache breakpoints, which raise the price of the prompt. */
const CONTENT_PART = {
  type: true,
  text: true,
  image_url: { url: true, detail: true },
  file: { file_data: true, file_id: true, filename: true },
  refusal: true,
} as const

/** The bound of the prompt depends on the type, but an upstream may read any field that it finds. */
const FIELDS_OF_PARTS: ReadonlySet<string> = new Set(['text', 'image_url', 'file', 'refusal'])
const PARTS_PATH = 'messages.content'

/** Whether the list has a field of this name, which holds the content of a part of this type. */
export function isListedPart(type: string): boolean {
  return FIELDS_OF_PARTS.has(type)
}

const MESSAGE = {
  role: true,
  content: CONTENT_PART,
  name: true,
  refusal: true,
  tool_calls: { id: true, type: true, function: CALLED_FUNCTION },
  tool_call_id: true,
  function_call: CALLED_FUNCTION,
} as const

/** Fields that chat and legacy completions share (OpenAI API reference, from the types of `openai` 7.55). */
const SAMPLING = {
  model: true,
  n: true,
  max_tokens: true,
  max_completion_tokens: true,
  stream: true,
  stream_options: { include_usage: true, include_obfuscation: true },
  temperature: true,
  top_p: true,
  stop: true,
  presence_penalty: true,
  frequency_penalty: true,
  logit_bias: true,
  logprobs: true,
  seed: true,
  user: true,
} as const

/**
 * The fields of the OpenAI API, less those that change the price or the model
 * (docs/decisions/0114).
 */
const ALLOWED = {
  chat: {
    ...SAMPLING,
    messages: MESSAGE,
    tools: { type: true, function: FUNCTION },
    tool_choice: { ...NAMED_FUNCTION, allowed_tools: { mode: true, tools: NAMED_FUNCTION } },
    parallel_tool_calls: true,
    functions: FUNCTION,
    function_call: { name: true },
    response_format: true,
    top_logprobs: true,
    reasoning_effort: true,
    verbosity: true,
    metadata: true,
    store: true,
    prompt_cache_key: true,
    prompt_cache_retention: true,
    safety_identifier: true,
  },
  completions: {
    ...SAMPLING,
    prompt: true,
    best_of: true,
    echo: true,
    suffix: true,
  },
  embeddings: { model: true, input: true, encoding_format: true, dimensions: true, user: true },
  images: {
    model: true,
    prompt: true,
    n: true,
    size: true,
    quality: true,
    style: true,
    response_format: true,
    output_format: true,
    output_compression: true,
    background: true,
    moderation: true,
    stream: true,
    user: true,
    safety_identifier: true,
  },
} as const satisfies Readonly<Record<RelayedApi | 'completions', FieldSpec>>

/** Name of a built-in list. */
export type AllowedList = keyof typeof ALLOWED

/** Fields of responses and messages that cost or reroute beyond the tokens of the model, or name another request of the upstream's account. */
export const GATED_FIELDS = [
  'service_tier',
  'speed',
  'inference_geo',
  'container',
  'mcp_servers',
  'models',
  'fallbacks',
  'fallback_credit_token',
  'billing_policy',
  'diagnostics',
] as const

/** Fields by which a request says what it may cost. */
export const BOUNDING_FIELDS = [
  'model',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const

/** Maps names to one form that lenient upstreams may treat alike: `maxTokens`, `MAX_TOKENS` and `max-tokens`. */
export function folded(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

function toAllowedFields(spec: FieldSpec, path = ''): AllowedFields {
  const fields = Object.entries(spec).map(
    ([name, inner]) => [name, inner === true ? 'whole' : toAllowedFields(inner, pathOf(path, name))] as const,
  )
  return { path, fields: new Map(fields), ...(path === PARTS_PATH && { ofType: FIELDS_OF_PARTS }) }
}

/** The dotted path of a field. */
export function pathOf(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`
}

const LISTS: Readonly<Record<AllowedList, AllowedFields>> = {
  chat: toAllowedFields(ALLOWED.chat),
  completions: toAllowedFields(ALLOWED.completions),
  embeddings: toAllowedFields(ALLOWED.embeddings),
  images: toAllowedFields(ALLOWED.images),
}

/** A built-in list. */
export function listedFields(list: AllowedList): AllowedFields {
  return LISTS[list]
}

/** The names of the fields that any of these lists adds to a content part. */
export function addedPartFields(lists: readonly (readonly string[])[]): ReadonlySet<string> {
  const inner = lists.flat().filter((path) => path.startsWith(`${PARTS_PATH}.`))
  return new Set(inner.map((path) => path.slice(PARTS_PATH.length + 1)).filter((name) => !name.includes('.')))
}

const extended = new WeakMap<readonly string[], Map<AllowedList, AllowedFields>>()

/**
 * A built-in list with the fields that a channel adds; computed once per channel.
 * @param added dotted paths; those without a parent in the list are skipped.
 */
export function allowedFields(list: AllowedList, added: readonly string[]): AllowedFields {
  if (added.length === 0) {
    return LISTS[list]
  }
  const made = extended.get(added) ?? new Map<AllowedList, AllowedFields>()
  extended.set(added, made)
  const known = made.get(list)
  if (known !== undefined) {
    return known
  }
  const fields = added.reduce((base, path) => withField(base, path.split('.')), LISTS[list])
  made.set(list, fields)
  return fields
}

function withField(base: AllowedFields, [name, ...rest]: readonly string[]): AllowedFields {
  if (name === undefined) {
    return base
  }
  const inner = base.fields.get(name)
  if (rest.length === 0) {
    return inner === undefined ? { ...base, fields: new Map([...base.fields, [name, 'whole']]) } : base
  }
  return inner === undefined || inner === 'whole'
    ? base
    : { ...base, fields: new Map([...base.fields, [name, withField(inner, rest)]]) }
}

/** A body reduced to the listed fields, and the distinct paths of the removed fields. */
export type PassedBody = { readonly text: string; readonly ignored: readonly string[] }

/** Most paths that are kept; a response header holds no more. */
const IGNORED_MAX = 20

/** Longer names are cut. */
const NAME_CHARACTERS_MAX = 64

/**
 * Removes every field that is not on the list. Names are decoded and must match exactly: `"\u006dodel"` is `model`, `Model` is
 * not. Of a repeated name the last one passes, which is the one that was validated. Of a content part, the field that its type
 * names and the fields that a channel adds pass. Every other byte stays. Takes linear time.
 * @param text a valid JSON object.
 */
export function keepAllowedFields(text: string, allowed: AllowedFields): PassedBody {
  const ignored: IgnoredNames = new Map()
  const scanner = new JsonScanner(text)
  const passed = passValue({ text, scanner, ignored }, scanner.next(), allowed)
  const paths = [...ignored].flatMap(([path, names]) => Array.from(names, (name) => pathOf(path, name)))
  return { text: passed ?? text, ignored: paths.slice(0, IGNORED_MAX) }
}

/** By the path of their object. */
type IgnoredNames = Map<string, Set<string>>

/** The text, how far it is read, and what was removed of it. */
type Passage = { readonly text: string; readonly scanner: JsonScanner; readonly ignored: IgnoredNames }

/** Reads on to the end of the value that begins with a token. @returns its replacement; undefined for an unchanged value. */
function passValue(passage: Passage, token: Token, allowed: AllowedFields | 'whole'): string | undefined {
  const { scanner } = passage
  if (token !== OPEN) {
    return undefined
  }
  if (allowed === 'whole') {
    scanner.skip()
    scanner.next()
    return undefined
  }
  return scanner.code === OPEN_BRACE ? passObject(passage, allowed) : passList(passage, allowed)
}

function passList(passage: Passage, allowed: AllowedFields): string | undefined {
  const { text, scanner } = passage
  const pieces: string[] = []
  let writtenTo = scanner.start
  for (let token = scanner.next(); token === OPEN || token === SCALAR; token = scanner.next()) {
    const { start } = scanner
    const changed = passValue(passage, token, allowed)
    if (changed !== undefined) {
      pieces.push(text.slice(writtenTo, start), changed)
      writtenTo = scanner.end
    }
  }
  return pieces.length === 0 ? undefined : pieces.join('') + text.slice(writtenTo, scanner.end)
}

/** The place of a field that passes, from the end of the text before it, and the replacement of its value. */
type Kept = {
  readonly position: number
  readonly start: number
  readonly valueStart: number
  readonly end: number
  readonly changed: string | undefined
}

function passObject(passage: Passage, allowed: AllowedFields): string | undefined {
  const { text, scanner, ignored } = passage
  const kept = new Map<string, Kept>()
  let isChanged = false
  let { end } = scanner
  for (let position = 0; scanner.next() === NAME; position += 1) {
    const { name, fieldStart: start } = scanner
    const inner = allowed.fields.get(name)
    const token = scanner.next()
    const valueStart = scanner.start
    const changed = passValue(passage, token, inner ?? 'whole')
    end = scanner.end
    const isRepeated = kept.delete(name)
    if (inner === undefined || isRepeated) {
      ignore(ignored, allowed.path, name)
    }
    if (inner !== undefined) {
      kept.set(name, { position, start, valueStart, end, changed })
    }
    isChanged ||= inner === undefined || isRepeated || changed !== undefined
  }
  for (const name of fieldsOfOtherTypes(text, kept, allowed)) {
    kept.delete(name)
    ignore(ignored, allowed.path, name)
    isChanged = true
  }
  return isChanged ? writeObject(kept.values(), text, text.slice(end, scanner.end)) : undefined
}

/** Fields of a content part that belong to another type. Validation has refused a part without a type. */
function fieldsOfOtherTypes(text: string, kept: ReadonlyMap<string, Kept>, { ofType }: AllowedFields): string[] {
  const type = kept.get('type')
  if (ofType === undefined || type === undefined) {
    return []
  }
  const named: unknown = parseJsonText(text.slice(type.valueStart, type.end))
  return [...ofType].filter((name) => name !== named && kept.has(name))
}

function writeObject(kept: Iterable<Kept>, text: string, closing: string): string {
  let written = '{'
  let previous: Kept | undefined
  for (const field of kept) {
    const { position, start, valueStart, end, changed } = field
    if (previous !== undefined) {
      written += position === previous.position + 1 ? text.slice(previous.end, start) : ','
    }
    written += changed === undefined ? text.slice(start, end) : text.slice(start, valueStart) + changed
    previous = field
  }
  return written + closing
}

function ignore(ignored: IgnoredNames, path: string, name: string): void {
  const names = ignored.get(path) ?? new Set()
  ignored.set(path, names)
  if (names.size < IGNORED_MAX) {
    names.add(name.slice(0, NAME_CHARACTERS_MAX))
  }
}
