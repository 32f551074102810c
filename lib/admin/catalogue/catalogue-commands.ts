import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import {
  CONFIGURATION_FILE,
  configurationFile,
  DEFAULT_CONFIGURATION,
  loadGatewayConfig,
} from '../../config/load-gateway-config.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { type ConfigChange, compareConfigs, withSimulators } from './compare-configs.ts'
import { readDeployedConfig } from './deployed-config.ts'
import { catalogueWarnings, modelRows, priceText } from './model-rows.ts'

const CONFIG = { value: 'FILE', summary: `configuration file; ${DEFAULT_CONFIGURATION}` } as const

/** Longer values are cut to this, from shortly before the first difference; `--json` has the whole value. */
const SHOWN_CHARACTERS_MAX = 160
const SHOWN_CHARACTERS_BEFORE = 40

/** Validates a configuration and shows its contents. @throws GatewayConfigError with a line per problem. */
export const catalogueCheck: Command = {
  name: 'catalogue check',
  summary: 'validate a configuration and show its models, channels and prices',
  details: `Exit code 1, with file, line and allowed values for each problem; warnings do not count. Variables come from the environment, as in a
deployment, which leaves out simulated channels; with --local, as in \`npm start\`.`,
  options: { config: CONFIG },
  examples: ['catalogue check --local', `catalogue check --config ${CONFIGURATION_FILE} --json`],
  async run(context, values) {
    const file = values.text('config') ?? configurationFile()
    const { config, warnings } = load(file, context.local)
    return describeCatalogue(config, [...warnings, ...catalogueWarnings(config)])
  },
}

/** Shows what a deployment of a configuration would change. @throws GatewayConfigError, DeploymentNotFoundError. */
export const catalogueDiff: Command = {
  name: 'catalogue diff',
  summary: 'show the differences between a configuration and the deployed one',
  details: `Exit code 0: no difference. 1: there are differences, on stdout, or the command failed.
Variables come from the environment, as in a deployment, so set those that the deployment had.`,
  options: { config: CONFIG },
  examples: ['catalogue diff --stage prod', 'catalogue diff --local --json'],
  async run(context, values) {
    const { config } = load(values.text('config') ?? configurationFile(), context.local)
    const deployed = await readDeployedConfig(context)
    return describeChanges(compareConfigs(context.local ? withSimulators(deployed, config) : deployed, config))
  },
}

function load(file: string, isLocal: boolean) {
  return loadGatewayConfig({ file, environment: process.env, mode: isLocal ? 'local' : 'synth' })
}

function describeCatalogue(config: GatewayConfig, warnings: readonly string[]): Answer {
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
    formatTable(['MODEL', 'KIND', 'CHANNELS', 'BILLING', 'PRICE (CREDITS)'], modelTable),
    formatTable(['CHANNEL', 'PROVIDER', 'BASE URL', 'PRIORITY', 'WEIGHT', 'MODELS'], channelTable),
    ...(warnings.length === 0 ? [] : [warnings.map((warning) => `warning: ${warning}`).join('\n')]),
  ]
  return { json: { ok: true, models, channels, warnings }, text: text.join('\n\n') }
}

function describeChanges(changes: readonly ConfigChange[]): Answer {
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
  return { json: { same: isSame, changes }, text: isSame ? 'no difference' : lines.join('\n'), isOk: isSame }
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
