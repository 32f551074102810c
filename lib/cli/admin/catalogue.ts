import { isDeepStrictEqual } from 'node:util'
import type { Channel } from '#core/catalogue/channel.ts'
import { type GatewayConfig, LOOPBACK_CALLBACKS } from '#core/catalogue/gateway-config.ts'
import type { Model } from '#core/catalogue/model.ts'
import { credentialKind } from '#core/catalogue/upstream-auth.ts'
import { shellRole } from '#local/upstream-role.ts'
import {
  CONFIGURATION_FILE,
  catalogueWarnings,
  configurationFile,
  DEFAULT_CONFIGURATION,
  loadGatewayConfig,
  SIMULATOR,
} from '../../config/load-gateway-config.ts'
import { requireChannels } from '../../config/stage-settings.ts'
import { explainFailure } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import type { AdminContext, Command } from './command.ts'
import { readDeployedConfig } from './deployed-config.ts'
import { ruleProblems } from './rule-tenants.ts'
import { missingKeys, readChannelSecret } from './secrets.ts'

/** One difference: its path, such as `models.famB-1.0-r2v.prices`, and the values before and after. */
export type ConfigChange = {
  readonly change: 'added' | 'removed' | 'changed'
  readonly path: string
  /** Undefined when it was added. */
  readonly deployed: unknown
  /** Undefined when it was removed. */
  readonly file: unknown
}

/** What a deployment of `file` would change. Models and channels are matched by id, not by order. */
export function compareConfigs(deployed: GatewayConfig, file: GatewayConfig): ConfigChange[] {
  const { channels: deployedChannels, models: deployedModels, $schema: _, ...deployedRest } = deployed
  const { channels, models, $schema: __, ...rest } = file
  return [
    ...compareRows('models', deployedModels, models),
    ...compareRows('channels', deployedChannels, channels),
    ...compareFields('', deployedRest, rest),
  ]
}

type Row = { readonly id: string }

function compareRows(section: string, deployed: readonly Row[], file: readonly Row[]): ConfigChange[] {
  const ids = new Set([...deployed, ...file].map(({ id }) => id))
  return [...ids].flatMap((id) => {
    const before = deployed.find((row) => row.id === id)
    const after = file.find((row) => row.id === id)
    const path = `${section}.${id}`
    if (before === undefined || after === undefined) {
      return [
        {
          change: before === undefined ? ('added' as const) : ('removed' as const),
          path,
          deployed: before,
          file: after,
        },
      ]
    }
    return compareFields(`${path}.`, before, after)
  })
}

function compareFields(prefix: string, deployed: object, file: object): ConfigChange[] {
  const before = new Map(Object.entries(deployed))
  const after = new Map(Object.entries(file))
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
    .map((name) => ({
      change: !before.has(name) ? 'added' : after.has(name) ? 'changed' : 'removed',
      path: `${prefix}${name}`,
      deployed: before.get(name),
      file: after.get(name),
    }))
}

/**
 * The running configuration of a local host, with `simulator` in place of the addresses that the host chose, so that these are not
 * differences. A channel that the host does not simulate stays as it runs, whatever the file says.
 * @param ids the channels that the host simulates.
 */
function withSimulators(running: GatewayConfig, file: GatewayConfig, ids: readonly string[]): GatewayConfig {
  const simulated = new Map(file.channels.filter(({ id }) => ids.includes(id)).map((channel) => [channel.id, channel]))
  const addresses = running.channels.filter(({ id }) => ids.includes(id)).flatMap(addressesOf)
  return {
    ...running,
    trusted_origins: running.trusted_origins.filter((origin) => !addresses.includes(origin)),
    channels: running.channels.map((channel) => {
      const asWritten = simulated.get(channel.id)
      if (asWritten === undefined) {
        return channel
      }
      const written = { base_url: SIMULATOR, api_key: asWritten.api_key }
      return channel.provider === 'openai' && asWritten.provider === 'openai'
        ? { ...channel, ...written, auth: asWritten.auth }
        : { ...channel, ...written }
    }),
  }
}

/** A local host takes callbacks to any port of its machine, whether its file names them or not. */
function withoutLoopback(config: GatewayConfig): GatewayConfig {
  const named = config.callback_allowlist.filter((entry) => !LOOPBACK_CALLBACKS.includes(entry))
  return { ...config, callback_allowlist: named }
}

/** Where a local host has put the upstream of a channel and what its tokens need, as it trusts them. */
function addressesOf(channel: Channel): string[] {
  const token = channel.provider === 'openai' ? channel.auth?.workload_identity?.token_url : undefined
  const urls = [channel.base_url, ...(token === undefined ? [] : [token])]
  return [channel.base_url, ...urls.flatMap((url) => URL.parse(url)?.origin ?? [])]
}

/** A model as an operator reads it: one line per price. */
export type ModelRow = {
  readonly id: string
  readonly kind: Model['kind']
  readonly enabled: boolean
  readonly billing: string
  readonly channels: readonly string[]
  /** Such as `720P: 0.14`, in credits, in the order of the file. */
  readonly prices: readonly string[]
}

/** Every model with its channels and prices. */
export function modelRows({ models, channels }: GatewayConfig): ModelRow[] {
  return models.map((model) => ({
    id: model.id,
    kind: model.kind,
    enabled: model.enabled,
    billing: model.billing,
    channels: channels.filter((channel) => Object.hasOwn(channel.models, model.id)).map(({ id }) => id),
    prices: model.prices.map(priceText),
  }))
}

/** What the shell of a local host lacks for channels that call their upstreams by a role. */
async function missingRole({ channels }: GatewayConfig): Promise<string[]> {
  const needing = channels.filter(
    (channel) => channel.base_url !== 'simulator' && /^(aws|workload_identity)$/.test(credentialKind(channel)),
  )
  if (needing.length === 0) {
    return []
  }
  try {
    await shellRole(process.env)()
    return []
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return needing.map(({ id }) => `channel ${id} is down: ${problem}`)
  }
}

/** One row of a price table: its conditions other than `any`, and the price. */
export function priceText(row: object): string {
  const fields = Object.entries(row)
  const conditions = fields
    .filter(([name, value]) => value !== 'any' && !isAmount(name))
    .map(([name, value]) => (typeof value === 'boolean' ? `${name} ${value ? 'on' : 'off'}` : String(value)))
  const amounts = fields
    .filter(([name]) => isAmount(name))
    .map(([name, value]) => (name === 'price' ? String(value) : `${name.replaceAll('_', ' ')} ${value} per million`))
  return [conditions.join(', '), amounts.join(', ')].filter((part) => part !== '').join(': ')
}

/** Names of prices in a row; those other than `price` are for a million tokens. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'price',
  'input',
  'output',
  'cached_input',
  'cached_input_explicit',
  'cache_write',
  'cache_write_1h',
])

function isAmount(name: string): boolean {
  return AMOUNTS.has(name)
}

const CONFIG = {
  value: 'FILE',
  summary: `configuration file; that of a running local host, or ${DEFAULT_CONFIGURATION}`,
} as const

/** Longer values are cut to this, from shortly before the first difference; `--json` has the whole value. */
const SHOWN_CHARACTERS_MAX = 160
const SHOWN_CHARACTERS_BEFORE = 40

/** Validates a configuration and shows its contents. @throws GatewayConfigError with a line per problem. */
export const catalogueCheck: Command = {
  name: 'catalogue check',
  summary: 'validate a configuration and show its models, channels and prices',
  details: `Exit code 1, with file, line and allowed values for each problem; warnings do not count. Variables come from the environment, as in a
deployment, which leaves out simulated channels; with --local, as in \`npm start\`. Warns of keys that channels lack in the stage or, with
--local, in this shell; of rules whose tenant does not exist there; and on stderr if the stage or the host cannot be read.`,
  options: { config: CONFIG },
  examples: ['catalogue check --local', `catalogue check --config ${CONFIGURATION_FILE} --json`],
  async run(context, values) {
    const file = values.text('config') ?? (await fileInPlace(context))
    const { config, leftOut, warnings } = load(file, context.local)
    if (!context.local && context.stage === 'prod') {
      requireChannels({ stage: context.stage, profile: 'prod', configFile: file }, { config, leftOut })
    }
    const lacking = [...(context.local ? await missingRole(config) : []), ...(await lackingInPlace(config, context))]
    return describeCatalogue({ file, config, warnings: [...warnings, ...catalogueWarnings(config), ...lacking] })
  },
}

/** Shows what a deployment of a configuration would change. @throws GatewayConfigError, DeploymentNotFoundError. */
export const catalogueDiff: Command = {
  name: 'catalogue diff',
  summary: 'show the differences between a configuration and the deployed one',
  details: `Exit code 0: no difference. 1: there are differences, on stdout, or the command failed.
Variables come from the environment, as in a deployment, so set those that the deployment had. Keys that a channel lacks and rules without
their tenant are warnings on stderr.`,
  options: { config: CONFIG },
  examples: ['catalogue diff --stage prod', 'catalogue diff --local --json'],
  async run(context, values) {
    const file = values.text('config') ?? (await fileInPlace(context))
    const { config } = load(file, context.local)
    const deployed = await readDeployedConfig(context)
    for (const warning of await lackingInPlace(config, context)) {
      context.warn(warning)
    }
    const simulated = context.local ? (await context.output('SimulatedChannels')).split(',') : []
    const changes = context.local
      ? compareConfigs(withoutLoopback(withSimulators(deployed, config, simulated)), withoutLoopback(config))
      : compareConfigs(deployed, config)
    return describeChanges(file, changes)
  },
}

/** The file that a running local host has read; otherwise that of this folder. */
async function fileInPlace({ local, output }: AdminContext): Promise<string> {
  const ofHost = local ? await output('ConfigurationFile').catch(() => undefined) : undefined
  return ofHost ?? configurationFile()
}

function load(file: string, isLocal: boolean) {
  return loadGatewayConfig({ file, environment: process.env, mode: isLocal ? 'local' : 'synth' })
}

/** What a configuration needs and its place does not have: keys of upstreams, tenants of rules. Warns of what cannot be read there. */
async function lackingInPlace(config: GatewayConfig, context: AdminContext): Promise<string[]> {
  const { local, stage, table, warn } = context
  const unread = (what: string) => (error: unknown) => {
    const place = local ? 'the local host' : `the stage ${stage}`
    warn(`${place} could not be read, so ${what} were not checked: ${explainFailure(error) ?? String(error)}`)
    return undefined
  }
  const isKeyed = missingKeys(config.channels, {}).length > 0
  const ofStage = async () => (isKeyed ? await readChannelSecret(context) : undefined)
  const entries = local ? process.env : await ofStage().catch(unread('the keys of its channels'))
  const keys = entries === undefined ? [] : missingKeys(config.channels, entries)
  const rules = await ruleProblems(table, config).catch(unread('the tenants of its rules'))
  return [
    ...keys.map(
      ({ name, channel }) =>
        `channel ${channel} has no key${local ? ` in this shell: set ${name} before \`npm start\`` : `: run \`secret set ${name}\``}`,
    ),
    ...(rules ?? []),
  ]
}

type Checked = { readonly file: string; readonly config: GatewayConfig; readonly warnings: readonly string[] }

function describeCatalogue({ file, config, warnings }: Checked): Output {
  const models = modelRows(config)
  const channels = config.channels.map(({ id, provider, base_url, priority, weight, models: served }) => ({
    id,
    provider,
    base_url,
    priority,
    weight,
    models: Object.keys(served),
  }))
  const modelTable = models.flatMap(({ id, kind, enabled, billing, channels: on, prices }) =>
    prices.map((price, index) =>
      index === 0
        ? [id, enabled ? kind : `${kind} (off)`, on.join(',') || null, billing, price]
        : ['', '', '', '', price],
    ),
  )
  const channelTable = channels.map(({ id, provider, base_url, priority, weight, models: served }) => [
    id,
    provider,
    base_url,
    String(priority),
    String(weight),
    String(served.length),
  ])
  const text = [
    `configuration  ${file}`,
    formatTable(['MODEL', 'KIND', 'CHANNELS', 'BILLING', 'PRICE (CREDITS)'], modelTable),
    formatTable(['CHANNEL', 'PROVIDER', 'BASE URL', 'PRIORITY', 'WEIGHT', 'MODELS'], channelTable),
    ...(warnings.length === 0 ? [] : [warnings.map((warning) => `warning: ${warning}`).join('\n')]),
  ]
  return { json: { ok: true, file, models, channels, warnings }, text: text.join('\n\n') }
}

function describeChanges(file: string, changes: readonly ConfigChange[]): Output {
  const isSame = changes.length === 0
  const lines = changes.flatMap(({ change, path, deployed, file }) => {
    const mark = { added: '+', removed: '-', changed: '~' }[change]
    const start = Math.max(0, firstDifference(deployed, file) - SHOWN_CHARACTERS_BEFORE)
    const [before, after] = [shown(path, deployed, start), shown(path, file, start)]
    return [
      `${mark} ${path}`,
      ...before.filter((line) => !after.includes(line)).map((line) => `    deployed  ${line}`),
      ...after.filter((line) => !before.includes(line)).map((line) => `    file      ${line}`),
    ]
  })
  const text = isSame ? `no difference: ${file} is deployed` : [`a deployment of ${file} changes`, ...lines].join('\n')
  return { json: { same: isSame, file, changes }, text, isOk: isSame }
}

/** The index of the first difference between two values; 0 if one of them is missing. */
function firstDifference(deployed: unknown, file: unknown): number {
  if (deployed === undefined || file === undefined) {
    return 0
  }
  const [left, right] = [JSON.stringify(deployed), JSON.stringify(file)]
  let index = 0
  while (index < left.length && left[index] === right[index]) {
    index += 1
  }
  return index
}

/** One line; for a price table, one numbered line per row, because the first row that fits is the price. */
function shown(path: string, value: unknown, start: number): string[] {
  if (value === undefined) {
    return []
  }
  if (path.endsWith('.prices') && Array.isArray(value)) {
    return value.map((row, index) => `${index + 1}. ${priceText(Object(row))}`)
  }
  const text = JSON.stringify(value)
  if (text.length <= SHOWN_CHARACTERS_MAX) {
    return [text]
  }
  const part = text.slice(start, start + SHOWN_CHARACTERS_MAX)
  const isEnd = start + SHOWN_CHARACTERS_MAX >= text.length
  return [`${start === 0 ? '' : '...'}${part}${isEnd ? '' : '...'} (${text.length} characters)`]
}
