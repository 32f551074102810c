/**
 * Fields of an object that pass, by their exact names: each whole, or an object (or a list of objects) of which again only
 * some fields pass. `path` is dotted and has no indexes: `messages.content`; empty for the body itself.
 */
export type PassingFields = {
  readonly path: string
  readonly fields: ReadonlyMap<string, PassingFields | 'whole'>
  /** Of these only the one passes that the object names as its `type`. */
  readonly ofType?: ReadonlySet<string>
}

type FieldSpec = { readonly [name: string]: true | FieldSpec }

/** What a request body is written for. Legacy completions become chat calls: what a channel adds to chat holds there too. */
export type RelayedApi = 'chat' | 'embeddings' | 'images'

const FUNCTION = { name: true, description: true, parameters: true, strict: true } as const
const CALLED_FUNCTION = { name: true, arguments: true } as const
const NAMED_FUNCTION = { type: true, function: { name: true } } as const

/** Audio has token prices of its own, and an explicit cache breakpoint makes the prompt dearer: both are left out. */
const CONTENT_PART = {
  type: true,
  text: true,
  image_url: { url: true, detail: true },
  file: { file_data: true, file_id: true, filename: true },
  refusal: true,
} as const

/** An upstream may go by the field that it finds and not by the type, and the bound of the prompt goes by the type. */
const FIELDS_OF_PARTS: ReadonlySet<string> = new Set(['text', 'image_url', 'file', 'refusal'])
const PARTS_PATH = 'messages.content'

/** Whether a part of this type has a listed field of its name, which holds what the part is about. */
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

/** What chat and legacy completions share (OpenAI API reference, as the types of `openai` 7.55 list it). */
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
const PASSING = {
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

/** A list of fields that comes with the gateway. */
export type PassingList = keyof typeof PASSING

function toPassingFields(spec: FieldSpec, path = ''): PassingFields {
  const fields = Object.entries(spec).map(
    ([name, inner]) => [name, inner === true ? 'whole' : toPassingFields(inner, pathOf(path, name))] as const,
  )
  return { path, fields: new Map(fields), ...(path === PARTS_PATH && { ofType: FIELDS_OF_PARTS }) }
}

/** The dotted path of a field. */
export function pathOf(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`
}

const LISTS: Readonly<Record<PassingList, PassingFields>> = {
  chat: toPassingFields(PASSING.chat),
  completions: toPassingFields(PASSING.completions),
  embeddings: toPassingFields(PASSING.embeddings),
  images: toPassingFields(PASSING.images),
}

/** The list that comes with the gateway. */
export function listedFields(list: PassingList): PassingFields {
  return LISTS[list]
}

/** The fields of a content part that any of these lists adds, by name. */
export function addedPartFields(lists: readonly (readonly string[])[]): ReadonlySet<string> {
  const inner = lists.flat().filter((path) => path.startsWith(`${PARTS_PATH}.`))
  return new Set(inner.map((path) => path.slice(PARTS_PATH.length + 1)).filter((name) => !name.includes('.')))
}

const extended = new WeakMap<readonly string[], Map<PassingList, PassingFields>>()

/**
 * A list with the fields that a channel adds. Made once for each list of a configuration.
 * @param added dotted paths whose parents are in the list; others have no meaning here and are passed over.
 */
export function passingFields(list: PassingList, added: readonly string[]): PassingFields {
  if (added.length === 0) {
    return LISTS[list]
  }
  const made = extended.get(added) ?? new Map<PassingList, PassingFields>()
  extended.set(added, made)
  const known = made.get(list)
  if (known !== undefined) {
    return known
  }
  const fields = added.reduce((base, path) => withField(base, path.split('.')), LISTS[list])
  made.set(list, fields)
  return fields
}

function withField(base: PassingFields, [name, ...rest]: readonly string[]): PassingFields {
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
