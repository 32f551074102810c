import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, isPair, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml'
import * as z from 'zod'
import { type GatewayConfig, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { OperatorError } from './operator-error.ts'
import type { Environment } from './platform-facts.ts'

/** The shipped configuration, which the tests use; relative to the working directory. */
export const CONFIGURATION_FILE = 'config/gateway.yaml'

/** The operator's configuration, which git ignores, so that an update of the shipped one causes no conflict. */
export const OWN_CONFIGURATION_FILE = 'config/gateway.local.yaml'

/** Describes the default in the help of the commands. */
export const DEFAULT_CONFIGURATION = `${OWN_CONFIGURATION_FILE} if it is there, else ${CONFIGURATION_FILE}`

/** The default configuration file: the operator's if it exists, else the shipped one. */
export function configurationFile(directory = '.'): string {
  // A broken link counts as existing: its author does not mean the shipped file.
  const own = lstatSync(join(directory, OWN_CONFIGURATION_FILE), { throwIfNoEntry: false })
  return own === undefined ? CONFIGURATION_FILE : OWN_CONFIGURATION_FILE
}

/**
 * The key in a template's `Metadata` that holds the validated gateway configuration of the functions: variables substituted,
 * simulators left out, keys of upstreams by name only. GetTemplate reads the deployed configuration from there. It is JSON in a string,
 * because metadata may hold no decimals (rule E4002 of cfn-lint).
 */
export const CONFIGURATION_METADATA = 'ReelgateConfiguration'

/** All problems of a configuration file: where they are, what is wrong, and what is allowed. */
export class GatewayConfigError extends OperatorError {
  override readonly name = 'GatewayConfigError'
}

type LoadOptions = {
  readonly file: string
  readonly environment: Environment
  /** `synth` leaves out channels with a simulated upstream, which a deployment does not have. */
  readonly mode: 'local' | 'synth'
}

export type LoadedConfig = {
  readonly config: GatewayConfig
  /** Ids of the channels that a deployment leaves out. */
  readonly leftOut: readonly string[]
  /** One per left-out channel, and one per value that is valid but probably wrong. */
  readonly warnings: string[]
}

/**
 * Reads `config/gateway.yaml` (or JSON, which is YAML), substitutes variables and validates it.
 * @throws GatewayConfigError with one line per problem.
 */
export function loadGatewayConfig(options: LoadOptions): LoadedConfig {
  const { file, environment, mode } = options
  const lines = new LineCounter()
  const document = readDocument(file, lines)
  const unset = fillInVariables(document, environment)
  const parsed = gatewayConfigSchema.safeParse(toValue(document, file), { error: configIssueText })
  if (parsed.success && unset.length === 0) {
    const loaded =
      mode === 'synth' ? withoutSimulators(parsed.data) : { config: parsed.data, leftOut: [], warnings: [] }
    return { ...loaded, warnings: [...loaded.warnings, ...baseUrlWarnings(loaded.config)] }
  }
  const problems = [...unset, ...(parsed.success ? [] : issuesBeyond(unset, parsed.error.issues))]
  const described = problems.map(
    ({ path, message }) => `  ${file}:${lineOf(document, lines, path)} ${formatPath(path)}: ${message}`,
  )
  throw new GatewayConfigError(`the configuration is not valid\n${described.join('\n')}`)
}

function readDocument(file: string, lines: LineCounter): Document {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new GatewayConfigError(`cannot read the configuration file ${file}`, { cause: error })
  }
  const document = parseDocument(text, { lineCounter: lines })
  const [syntaxError] = document.errors
  if (syntaxError !== undefined) {
    const { line } = lines.linePos(syntaxError.pos[0])
    throw new GatewayConfigError(`${file}:${line} not valid YAML: ${syntaxError.message}`, { cause: syntaxError })
  }
  return document
}

/** Resolves aliases. @throws GatewayConfigError for an alias without an anchor. */
function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new GatewayConfigError(`${file}: not valid YAML: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}

function withoutSimulators(config: GatewayConfig): LoadedConfig {
  const simulated = config.channels.filter((channel) => channel.base_url === 'simulator')
  return {
    config: { ...config, channels: config.channels.filter((channel) => channel.base_url !== 'simulator') },
    leftOut: simulated.map(({ id }) => id),
    warnings: simulated.map(({ id }) => `channel ${id} has no upstream (base_url is simulator) and is left out`),
  }
}

/** The issues of values whose variables are set; an unset variable has been reported. */
function issuesBeyond(unset: readonly ConfigProblem[], issues: readonly z.core.$ZodIssue[]): ConfigProblem[] {
  const reported = new Set(unset.map(({ path }) => formatPath(path)))
  return issues.flatMap(flattenIssue).filter(({ path }) => !reported.has(formatPath(path)))
}

/** A union reports its branches inside one issue; the branch that matched the deepest is most likely the one that was meant. */
function flattenIssue(issue: z.core.$ZodIssue): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return [{ path: [...issue.path, ...issue.keys.slice(0, 1)], message: issue.message }]
  }
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path: issue.path, message: issue.message }]
  }
  const depth = (branch: z.core.$ZodIssue[]) => Math.max(...branch.map((each) => each.path.length))
  const [best = []] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  return best.flatMap(flattenIssue).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** The line of the value at a path; of the nearest enclosing block if the value is missing. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (hasRange(node)) {
      return lines.linePos(node.range[0]).line
    }
  }
  return 1
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

/** `channels[0].poll.first_seconds`. */
function formatPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
  return parts.join('').replace(/^\./, '') || '(file)'
}

/** A problem at one place of a configuration file. */
type ConfigProblem = { readonly path: readonly PropertyKey[]; readonly message: string }

const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Substitutes `${NAME}` and `${NAME:-default}` in every string except for `api_key`, which keeps the name of its secret.
 * @returns a problem per unset variable.
 */
function fillInVariables(document: Document, environment: Environment): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  visit(document, {
    Pair(_, pair) {
      return keyOf(pair) === 'api_key' ? visit.SKIP : undefined
    },
    Scalar(role, node, ancestors) {
      if (typeof node.value !== 'string' || role === 'key') {
        return
      }
      node.value = node.value.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
        const value = environment[name] || fallback
        if (value === undefined) {
          const message = `\${${name}} is used but ${name} is not set; set it or write \${${name}:-default}`
          problems.push({ path: pathOf([...ancestors, node]), message })
        }
        return value ?? whole
      })
    },
  })
  return problems
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
}

function pathOf(nodes: readonly (Document | Node | Pair)[]): PropertyKey[] {
  return nodes.flatMap<PropertyKey>((node, index) => {
    if (isPair(node)) {
      return [keyOf(node)]
    }
    const child = nodes[index + 1]
    return isSeq(node) && child !== undefined ? [node.items.indexOf(child)] : []
  })
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
function configIssueText(issue: z.core.$ZodRawIssue): string | undefined {
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
        : `must be at least ${issue.minimum}${unit(issue.origin)}`
    case 'too_big':
      return `must be at most ${issue.maximum}${unit(issue.origin)}`
    default:
      return undefined
  }
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values)
}

function unit(origin: unknown): string {
  return origin === 'array' ? ' entries long' : origin === 'string' ? ' characters long' : ''
}

/** A version, as in `/v1`, `/openai/v1` or `/v1beta/openai`. */
const VERSION = /\/v\d[^/]*(\/|$)/

/**
 * Warns of base urls that are valid but probably wrong: as in the OpenAI SDKs, the base url of an OpenAI-compatible upstream
 * includes the version, without which every request there is a 404.
 */
function baseUrlWarnings({ channels }: Pick<GatewayConfig, 'channels'>): string[] {
  return channels.flatMap(({ id, provider, base_url }) => {
    const isUnversioned = provider === 'openai' && URL.canParse(base_url) && !VERSION.test(new URL(base_url).pathname)
    return isUnversioned
      ? [
          `channel ${id} has a base_url without /v1, so chats go to ${base_url}/chat/completions; if that is wrong, write ${base_url}/v1`,
        ]
      : []
  })
}

/** A variable, which is substituted before validation. */
const VARIABLE_PATTERN = '\\$\\{[A-Z][A-Z0-9_]*(:-[^}]*)?\\}'

/**
 * The JSON Schema of `config/gateway.yaml` for editors. It describes the file before the substitution of `${NAME}`, and does
 * not include the rules between rows, which are checked at start and at synth.
 */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(gatewayConfigSchema, { io: 'input', target: 'draft-7' })
  const { $schema, ...rest } = schema
  const titled = { $schema, title: 'Reelgate gateway configuration', ...rest }
  return `${JSON.stringify(admitVariables(titled, ''), null, 2)}\n`
}

/** Allows a variable in every string with a pattern, except for `api_key`, whose own pattern has the variable. */
function admitVariables(node: unknown, name: string): unknown {
  if (Array.isArray(node)) {
    return node.map((item) => admitVariables(item, name))
  }
  if (typeof node !== 'object' || node === null) {
    return node
  }
  const fields = Object.entries(node).map(([key, value]) => {
    const isPattern = key === 'pattern' && typeof value === 'string' && name !== 'api_key'
    return [key, isPattern ? `(${value})|(${VARIABLE_PATTERN})` : admitVariables(value, key)]
  })
  return Object.fromEntries(fields)
}
