import { lstatSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parse,
  parseDocument,
  visit,
} from 'yaml'
import * as z from 'zod'
import { MODEL_ENDPOINTS } from '#core/api/paths.ts'
import { credentialName } from '#core/catalogue/catalogue.ts'
import { type GatewayConfig, gatewayConfigSchema, LOOPBACK_CALLBACKS } from '#core/catalogue/gateway-config.ts'
import { isIssuer } from '#core/catalogue/identity-settings.ts'
import { credentialKind, withAddresses } from '#core/catalogue/upstream-auth.ts'
import { LOOPBACK_NAMES } from '#core/http.ts'
import { type ConfigProblem, configProblems, formatPath, isRecord, listAt } from './config-problems.ts'
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

/** The shipped file, from which own files take the models that they do not define. */
const SHIPPED_FILE = join(import.meta.dirname, '..', '..', CONFIGURATION_FILE)

/** The word in a channel's `base_url` that asks for a simulated upstream. */
export const SIMULATOR = 'simulator'

/** The region of a local host whose environment names none. */
export const LOCAL_REGION = 'us-east-1'

/** All problems of a configuration file: where they are, what is wrong, and what is allowed. */
export class GatewayConfigError extends OperatorError {
  override readonly name = 'GatewayConfigError'
}

type LoadOptions = {
  readonly file: string
  readonly environment: Environment
  /**
   * `start` needs the key of every upstream in the environment. `simulated` simulates every upstream, whatever the file and the environment
   * say of it. `synth` leaves out channels with a simulated upstream, which a deployment does not have.
   */
  readonly mode: 'local' | 'start' | 'simulated' | 'synth'
}

export type LoadedConfig = {
  readonly config: GatewayConfig
  /** Ids of the channels that a deployment leaves out. */
  readonly leftOut: readonly string[]
  /** One per left-out channel, and one per value that is valid but probably wrong. */
  readonly warnings: string[]
}

/**
 * Reads a configuration file in YAML (or JSON, which is YAML), substitutes variables, adds the shipped models that it uses, and validates it.
 * @throws GatewayConfigError with one line per problem, in the order of the file.
 */
export function loadGatewayConfig(options: LoadOptions): LoadedConfig {
  const { file, environment, mode } = options
  const lines = new LineCounter()
  const document = readDocument(file, lines)
  if (mode === 'simulated') {
    simulateUpstreams(document)
  }
  const unset = fillInVariables(document, environment, mode === 'simulated')
  const shipped = shippedModels()
  const value = withShippedModels(toValue(document, file), shipped)
  const reported = new Set(unset.map(({ path }) => formatPath(path)))
  const others =
    value === null || value === undefined
      ? [EMPTY]
      : configProblems(value, [...shipped.keys()])
          .filter(({ path, message }) => message.startsWith('unknown key') || !reported.has(formatPath(path)))
          // Models are missing because no channel names one.
          .map((problem) => (isWithoutChannels(value) && formatPath(problem.path) === 'models' ? NO_CHANNELS : problem))
  const keys = mode === 'start' ? missingKeys(value, environment) : []
  const local = mode === 'synth' ? localIssuers(value) : unreadableKeys(value)
  const problems = [...unset, ...others, ...keys, ...local, ...apiPaths(value)].map((problem) => ({
    ...problem,
    line: lineOf(document, lines, problem.path),
  }))
  if (problems.length > 0) {
    const described = problems
      .toSorted((left, right) => left.line - right.line)
      .map(({ line, path, message }) => `  ${file}:${line} ${formatPath(path)}: ${message}`)
    throw new GatewayConfigError(`the configuration is not valid\n${described.join('\n')}`)
  }
  const region = mode === 'synth' ? undefined : (environment.AWS_REGION ?? LOCAL_REGION)
  const config = withAddresses(gatewayConfigSchema.parse(value), region)
  const loaded = mode === 'synth' ? withoutSimulators(config) : { config, leftOut: [], warnings: [] }
  const empty =
    config.channels.length === 0 ? [`channels ${NO_CHANNELS.message}; until then every request is refused`] : []
  return { ...loaded, warnings: [...empty, ...loaded.warnings, ...upstreamWarnings(loaded.config)] }
}

/** The keys of an issuer are read from its own origin over http, and over https alone from any other that is not trusted. */
function unreadableKeys(value: unknown): ConfigProblem[] {
  const identity = isRecord(value) ? value.identity : undefined
  const trusted = isRecord(value) && Array.isArray(value.trusted_origins) ? value.trusted_origins : []
  return listAt(identity, 'issuers').flatMap(({ issuer, jwks_url: url }, index) => {
    const origin = URL.parse(String(url))?.origin
    const isReadable =
      !String(url).startsWith('http:') || origin === URL.parse(String(issuer))?.origin || trusted.includes(origin)
    const message = `is not at the origin of its issuer: add "${origin}" to trusted_origins`
    return isReadable ? [] : [{ path: ['identity', 'issuers', index, 'jwks_url'], message }]
  })
}

/** Plain http is for an issuer on the machine of a local host. */
function localIssuers(value: unknown): ConfigProblem[] {
  const identity = isRecord(value) ? value.identity : undefined
  return listAt(identity, 'issuers').flatMap((row, index) =>
    (['issuer', 'jwks_url'] as const).flatMap((name) =>
      String(row[name]).startsWith('http:') && isIssuer(String(row[name]))
        ? [{ path: ['identity', 'issuers', index, name], message: 'a deployment takes https only' }]
        : [],
    ),
  )
}

const NO_TABS = 'a tab in the indentation; indent with spaces'

const QUOTES = `a variable between braces or brackets needs quotes: "\${NAME}"`

const EMPTY: ConfigProblem = {
  path: [],
  message: 'is empty; write `channels`, and `models` of your own, as in config/examples/openai-compatible.yaml',
}

const NO_CHANNELS: ConfigProblem = {
  path: ['channels'],
  message: 'is empty; write a channel, as in config/examples/openai-compatible.yaml',
}

function isWithoutChannels(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.channels) && value.channels.length === 0
}

/** The paths that the gateway adds to a base url, the longest first. */
const API_PATHS = Object.values(MODEL_ENDPOINTS)
  .map(({ path }) => path.slice('/v1'.length))
  .toSorted((left, right) => right.length - left.length)

/** A base url that is copied from the documentation of one call: every request would be a 404. */
function apiPaths(value: unknown): ConfigProblem[] {
  return listAt(value, 'channels').flatMap(({ provider, base_url }, index) => {
    const url = String(base_url).replace(/\/+$/, '')
    const path = provider === 'openai' ? API_PATHS.find((each) => url.endsWith(each)) : undefined
    const message = `ends in ${path}, which the gateway adds; write ${url.slice(0, -(path?.length ?? 0))}`
    return path === undefined ? [] : [{ path: ['channels', index, 'base_url'], message }]
  })
}

function readDocument(file: string, lines: LineCounter): Document {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new GatewayConfigError(`cannot read the configuration file ${resolve(file)}`, { cause: error })
  }
  const document = parseDocument(text, { lineCounter: lines, merge: true })
  if (document.errors.length > 0) {
    // What follows one of these two is misread.
    const tabs = document.errors.filter(({ code }) => code === 'TAB_AS_INDENT')
    const variables = document.errors.filter(({ pos }) => text.startsWith('${', pos[0] - 1))
    const errors = [tabs, variables].find(({ length }) => length > 0) ?? document.errors
    const described = errors.map((error) => {
      const message = error.code === 'TAB_AS_INDENT' ? NO_TABS : variables.includes(error) ? QUOTES : error.message
      return `${file}:${lines.linePos(error.pos[0]).line} not valid YAML: ${message}`
    })
    throw new GatewayConfigError([...new Set(described)].join('\n'), { cause: document.errors[0] })
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

type ModelRows = ReadonlyMap<string, object>

/** The models of the shipped file by id, as they are written there. */
function shippedModels(): ModelRows {
  const rows = listAt(parse(readFileSync(SHIPPED_FILE, 'utf8')), 'models')
  return new Map(rows.map((row) => [String(row.id), row]))
}

/**
 * Completes `models` from the shipped file, so that own files need no copy of it: a row without `kind` changes the shipped model with its id,
 * and a shipped model that a channel serves needs no row.
 */
function withShippedModels(value: unknown, shipped: ModelRows): unknown {
  const models = isRecord(value) ? (value.models ?? []) : undefined
  if (!(isRecord(value) && Array.isArray(models))) {
    return value
  }
  const rows = models.map((row: unknown) =>
    isRecord(row) && row.kind === undefined ? { ...shipped.get(String(row.id)), ...row } : row,
  )
  const defined = new Set(listAt(value, 'models').map(({ id }) => id))
  const served = listAt(value, 'channels').flatMap((channel) =>
    isRecord(channel.models) ? Object.keys(channel.models) : [],
  )
  const added = [...shipped].filter(([id]) => served.includes(id) && !defined.has(id)).map(([, row]) => row)
  // Names of models that do not exist are reported themselves.
  return value.models === undefined && served.length === 0 ? value : { ...value, models: [...rows, ...added] }
}

/** A channel of a real upstream without its key would refuse every request, so the start is refused instead. */
function missingKeys(value: unknown, environment: Environment): ConfigProblem[] {
  return listAt(value, 'channels').flatMap(({ id, base_url, api_key }, index) => {
    const name = typeof api_key === 'string' ? credentialName({ api_key }) : undefined
    if (base_url === SIMULATOR || name === undefined || environment[name]) {
      return []
    }
    const message = `channel ${id} has an upstream and no key: set ${name} in the environment, or start with --simulators`
    return [{ path: ['channels', index, 'api_key'], message }]
  })
}

function withoutSimulators(config: GatewayConfig): LoadedConfig {
  const simulated = config.channels.filter((channel) => channel.base_url === SIMULATOR)
  return {
    config: {
      ...config,
      channels: config.channels.filter((channel) => channel.base_url !== SIMULATOR),
      // On AWS, loopback is that of a function.
      callback_allowlist: config.callback_allowlist.filter((entry) => !LOOPBACK_CALLBACKS.includes(entry)),
    },
    leftOut: simulated.map(({ id }) => id),
    warnings: simulated.map(({ id }) => `channel ${id} has no upstream (base_url is simulator) and is left out`),
  }
}

/** The line of the key or list entry at a path; of the nearest enclosing block if there is none. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    const key = path[length - 1]
    const pair = isMap(parent) ? parent.items.find((item) => keyOf(item) === String(key)) : undefined
    const node = pair === undefined ? document.getIn(path.slice(0, length), true) : pair.key
    if (hasRange(node)) {
      return lines.linePos(node.range[0]).line
    }
  }
  return 1
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g

/** An address, a variable, or the word; anything else is a mistake that the check tells. */
const BASE_URL = /^(?:https?:|\$\{|simulator$)/i

/** Lets the local host simulate the upstream of every channel. */
function simulateUpstreams(document: Document): void {
  const channels = document.get('channels', true)
  for (const channel of isSeq(channels) ? channels.items : []) {
    const written = isMap(channel) ? channel.get('base_url') : undefined
    if (isMap(channel) && (typeof written !== 'string' || BASE_URL.test(written))) {
      channel.set('base_url', SIMULATOR)
    }
  }
}

/**
 * Substitutes `${NAME}` and `${NAME:-default}` in every string except for `api_key`, which keeps the name of its secret.
 * @param isSimulated prefers the defaults of channels to the environment, which is about upstreams.
 * @returns a problem per unset variable.
 */
function fillInVariables(document: Document, environment: Environment, isSimulated: boolean): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  visit(document, {
    Pair(_, pair) {
      return keyOf(pair) === 'api_key' ? visit.SKIP : undefined
    },
    Scalar(role, node, ancestors) {
      if (typeof node.value !== 'string' || role === 'key') {
        return
      }
      const path = pathOf([...ancestors, node])
      node.value = node.value.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
        const isOfUpstream = isSimulated && path[0] === 'channels'
        const value = (isOfUpstream && fallback) || environment[name] || fallback
        if (value === undefined) {
          const message = `\${${name}} is used but ${name} is not set; set it or write \${${name}:-default}`
          problems.push({ path, message })
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

/** A version, as in `/v1`, `/openai/v1` or `/v1beta/openai`. */
const VERSION = /\/v\d[^/]*(\/|$)/

/** Ids of the enabled models that no channel names. */
export function modelsWithoutChannel({ models, channels }: GatewayConfig): string[] {
  const isServed = (id: string) => channels.some((channel) => Object.hasOwn(channel.models, id))
  return models.flatMap(({ id, enabled }) => (enabled && !isServed(id) ? [id] : []))
}

/** Settings that are valid and probably a mistake. */
export function catalogueWarnings(config: GatewayConfig): string[] {
  const keyless = config.channels.filter(
    (channel) => channel.base_url !== SIMULATOR && credentialKind(channel) === 'none',
  )
  const open = config.channels.filter((channel) => channel.base_url.startsWith('http://'))
  const unserved = modelsWithoutChannel(config)
  return [
    ...(unserved.length === 0 ? [] : [`clients do not see models that are on no channel: ${unserved.join(', ')}`]),
    ...keyless.map(({ id }) => `channel ${id} has no api_key: its upstream is called without one`),
    ...open.map(({ id, base_url }) =>
      LOOPBACK_NAMES.includes(new URL(base_url).hostname)
        ? `channel ${id} has an upstream on this machine, which no function on AWS reaches`
        : `channel ${id} has an http base_url: keys and prompts travel unencrypted`,
    ),
  ]
}

/** In the shipped file unless `P1_ASYNC_HEADER` is set. */
const SIMULATED_ASYNC_HEADER = 'X-Provider-Async'

/**
 * Warns of what is valid and probably no request of its upstream: a base url without the version, which is part of it in the OpenAI SDKs,
 * and the simulator's header at a real upstream.
 */
export function upstreamWarnings({ channels }: Pick<GatewayConfig, 'channels'>): string[] {
  return channels.flatMap((channel) => {
    const { id, provider, base_url } = channel
    if (provider === 'p1' && base_url.startsWith('https://') && channel.async_header === SIMULATED_ASYNC_HEADER) {
      return [
        `channel ${id} sends ${SIMULATED_ASYNC_HEADER}, the header of the simulator: set its async_header to that of its upstream`,
      ]
    }
    const isUnversioned =
      provider === 'openai' &&
      channel.auth?.aws === undefined &&
      URL.canParse(base_url) &&
      !VERSION.test(new URL(base_url).pathname)
    return isUnversioned
      ? [
          `channel ${id} has a base_url without /v1, so chats go to ${base_url}/chat/completions; if that is wrong, write ${base_url}/v1`,
        ]
      : []
  })
}

/** A variable, which is substituted before validation. */
const VARIABLE_PATTERN = '\\$\\{[A-Z][A-Z0-9_]*(:-[^}]*)?\\}'

/** A row that changes fields of a shipped model. */
const CHANGED_MODEL = { type: 'object', properties: { kind: { not: {} } }, required: ['id'] }

/**
 * The JSON Schema of `config/gateway.yaml` for editors. It describes the file before the substitution of `${NAME}`, and does
 * not include the rules between rows, which are checked at start and at synth.
 */
export function configJsonSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(gatewayConfigSchema, { io: 'input', target: 'draft-7' })
  const models = Object(schema.properties?.models)
  const properties = { ...schema.properties, models: { ...models, items: { anyOf: [models.items, CHANGED_MODEL] } } }
  const titled = { $schema, title: 'Reelgate gateway configuration', ...schema, properties, required: ['channels'] }
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
