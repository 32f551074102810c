import type * as z from 'zod'
import { channelSchema } from '#core/catalogue/channel.ts'
import { crossCheck, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { modelSchema } from '#core/catalogue/model.ts'

/** A problem at one place of a configuration file. */
export type ConfigProblem = { readonly path: readonly PropertyKey[]; readonly message: string }

/**
 * Every problem of a configuration, each with what is allowed there and the name that was probably meant. A row with a problem does not hide
 * what is wrong between rows, and a row of unknown provider or kind does not hide its other fields.
 * @param value the file, with its variables filled in and the shipped models that it uses.
 * @param shippedModels ids that a channel may name too.
 */
export function configProblems(value: unknown, shippedModels: readonly string[]): ConfigProblem[] {
  const { error } = gatewayConfigSchema.safeParse(value, { error: issueText })
  const issues = (error?.issues ?? []).flatMap((issue) => [...flattenIssue(issue), ...hiddenIssues(issue, value)])
  const found = new Map<string, ConfigProblem>()
  for (const problem of [...issues, ...crossCheck(looseRows(value))]) {
    const key = `${formatPath(problem.path)}: ${problem.message}`
    found.set(key, found.get(key) ?? withSuggestion(problem, value, shippedModels))
  }
  const problems = [...found.values()]
  // That there is none at all says less than that a channel names one which does not exist.
  const isNoneFound = problems.some(({ message }) => message.startsWith('no model'))
  return problems.filter(({ path }) => !(isNoneFound && formatPath(path) === 'models'))
}

/** `channels[0].poll.first_seconds`. */
export function formatPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
  return parts.join('').replace(/^\./, '') || '(file)'
}

/** A union reports its branches inside one issue; the branch that matched the deepest is most likely the one that was meant. */
function flattenIssue(issue: z.core.$ZodIssue): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    const [, allowed = ''] = issue.message.split('; allowed: ')
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: `unknown key "${key}"; allowed: ${allowed}`,
    }))
  }
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path: issue.path, message: issue.message }]
  }
  const depth = (branch: z.core.$ZodIssue[]) => Math.max(...branch.map((each) => each.path.length))
  const [best = []] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  return best.flatMap(flattenIssue).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** The schema of a row by its section, and the field that decides which other fields the row has. */
const ROWS = {
  channels: { schema: channelSchema, decides: 'provider' },
  models: { schema: modelSchema, decides: 'kind' },
} as const

/**
 * The schema looks no further into a row whose provider or kind is wrong. Its other problems are those with the word that was probably
 * meant, or else those with every word.
 */
function hiddenIssues(issue: z.core.$ZodIssue, value: unknown): ConfigProblem[] {
  const [section, index, field] = issue.path
  const rows = section === 'channels' || section === 'models' ? ROWS[section] : undefined
  if (issue.code !== 'invalid_union' || rows === undefined || index === undefined || field !== rows.decides) {
    return []
  }
  const row = Object(valueAt(value, issue.path.slice(0, 2)))
  if (section === 'models' && row.kind === undefined) {
    // Most likely its id should have been that of a shipped model.
    return []
  }
  const options = allowedIn(issue.message)
  const meant = nearestName(String(row[field]), options)
  const problems = (meant === undefined ? options : [meant]).map((option) => {
    const { error } = rows.schema.safeParse({ ...row, [rows.decides]: option }, { error: issueText })
    const inner = (error?.issues ?? []).flatMap(flattenIssue)
    return inner.map(({ path, message }): ConfigProblem => ({ path: [...issue.path.slice(0, 2), ...path], message }))
  })
  const [first = [], ...others] = problems
  const keyOf = ({ path }: ConfigProblem) => formatPath(path)
  return first.filter((problem) => others.every((list) => list.some((other) => keyOf(other) === keyOf(problem))))
}

/** What can be compared between rows, whatever else is wrong with them. */
function looseRows(value: unknown): Parameters<typeof crossCheck>[0] {
  const channels = listAt(value, 'channels').map(({ id, provider, models }) => ({
    id: textOf(id),
    provider: ROWS.channels.schema.options.some(({ shape }) => shape.provider.value === provider)
      ? textOf(provider)
      : undefined,
    models: isRecord(models) ? models : {},
  }))
  const models = listAt(value, 'models').map((row) => modelSchema.safeParse(row).data ?? { id: textOf(row.id) })
  return { channels, models }
}

type Fields = Readonly<Record<string, unknown>>

/** The rows of a list of the configuration; a row that is none has no fields. */
export function listAt(value: unknown, section: string): Fields[] {
  const rows = isRecord(value) ? value[section] : undefined
  return Array.isArray(rows) ? rows.map((row: unknown) => (isRecord(row) ? row : {})) : []
}

/** Whether a value is a block of keys. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner === undefined || inner === null ? inner : Object(inner)[key]),
    value,
  )
}

const ALLOWED = '; allowed: '

function allowedIn(message: string): string[] {
  const start = message.indexOf(ALLOWED)
  return start === -1 ? [] : message.slice(start + ALLOWED.length).split(', ')
}

/** How upstreams are configured, by the words that people write as `provider`. */
const EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [/anthropic|claude/i, 'anthropic.yaml'],
  [/bedrock|aws|amazon/i, 'bedrock.yaml'],
  [/openrouter/i, 'openrouter.yaml'],
  [/^ark$|volc|byteplus/i, 'ark.yaml'],
  [/dashscope|alibaba|model-?studio/i, 'model-studio.yaml'],
  [/azure|gemini|google|vertex|deepseek|mistral|groq|ollama|vllm|xai|litellm|qwen|moonshot/i, 'openai-compatible.yaml'],
]

/** A message that lists what is allowed, or names a model that is missing, also says which of these was probably meant. */
function withSuggestion(problem: ConfigProblem, value: unknown, shippedModels: readonly string[]): ConfigProblem {
  const { path } = problem
  const message = valueAt(value, path) === undefined ? ofMissing(problem, value) : problem.message
  const [, subject, quoted] = /^(unknown key|no model|no shipped model) "(.+?)"/.exec(message) ?? []
  const written = quoted ?? textOf(valueAt(value, path))
  const others = subject?.startsWith('no ') ? shippedModels : []
  const meant = written === undefined ? undefined : nearestName(written, [...allowedIn(message), ...others])
  const [said, stated] = message.split(ALLOWED)
  // A channel may also name a shipped model that the file does not.
  const isOfChannel = subject === 'no model' && path[0] === 'channels'
  const allowed = isOfChannel ? [...new Set([...allowedIn(message), ...shippedModels])].join(', ') : stated
  const [, example] = EXAMPLES.find(([words]) => path[2] === 'provider' && words.test(written ?? '')) ?? []
  if (example !== undefined) {
    return { path, message: `${said}; write the channel as in config/examples/${example}; allowed: ${allowed}` }
  }
  const suggestion = meant === undefined ? '' : `; did you mean ${meant}?`
  const list = allowed === undefined ? '' : `${meant === undefined ? ';' : ''} allowed: ${allowed}`
  return { path, message: `${said}${suggestion}${list}` }
}

/** A choice that is missing is no wrong one. A row of `models` needs no kind if its id is that of a shipped model. */
function ofMissing({ path, message }: ConfigProblem, value: unknown): string {
  const id = path[0] === 'models' ? textOf(valueAt(value, [...path.slice(0, -1), 'id'])) : undefined
  return message.replace(
    /^not allowed(?=;)/,
    id === undefined || path.at(-1) !== 'kind' ? 'is missing' : `no shipped model "${id}", so write a kind`,
  )
}

/** From this length on, a name is meant by its beginning: `context` for `context_tokens`. */
const BEGINNING_MIN = 4

/** The candidate that was probably meant: the same but for case and separators, a few letters away, or with an ending more or less. */
function nearestName(written: string, candidates: readonly string[]): string | undefined {
  const folded = (name: string) => name.toLowerCase().replaceAll(/[\s_.-]/g, '')
  const word = folded(written)
  const ranked = candidates
    .map((name) => ({ name, steps: editSteps(word, folded(name)) }))
    .toSorted((left, right) => left.steps - right.steps)
  const [best] = ranked
  if (best !== undefined && best.steps <= Math.floor((word.length + 1) / 4)) {
    return best.name
  }
  const isLonger = (long: string, short: string) => short.length >= BEGINNING_MIN && long.startsWith(short)
  return ranked.find(({ name }) => isLonger(folded(name), word) || isLonger(word, folded(name)))?.name
}

/** Letters to add, remove, replace or swap with a neighbour (optimal string alignment). */
function editSteps(left: string, right: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: right.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1
      const isSwap = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      const swap = isSwap ? Number(before[j - 2]) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(Number(row[j]) + 1, Number(next[j - 1]) + 1, Number(row[j - 1]) + cost, swap))
    }
    ;[before, row] = [row, next]
  }
  return Number(row[right.length])
}

/** What an operator writes for each type. */
const THINGS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block of keys',
  record: 'a block of keys',
}

/** The message for an operator; undefined keeps the message of the schema or of zod. */
function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const thing = THINGS[String(issue.expected)] ?? String(issue.expected)
      return issue.input === undefined ? `is missing; write ${thing}` : `write ${thing}`
    }
    case 'invalid_value':
      return `not allowed; allowed: ${listed(issue.values)}`
    case 'invalid_union':
      return issue.options === undefined ? undefined : `not allowed; allowed: ${listed(issue.options)}`
    case 'too_small':
      return issue.inclusive === false
        ? `must be above ${issue.minimum}`
        : bounded('at least', issue.minimum, issue.origin)
    case 'too_big':
      return bounded('at most', issue.maximum, issue.origin)
    default:
      return undefined
  }
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values)
}

function bounded(bound: string, limit: unknown, origin: unknown): string {
  if (origin === 'array') {
    return `must have ${bound} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`
  }
  return `must be ${bound} ${limit}${origin === 'string' ? ' characters long' : ''}`
}
