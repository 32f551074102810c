import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Model } from '#core/catalogue/model.ts'

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

/** Settings that are valid and probably a mistake. */
export function catalogueWarnings(config: GatewayConfig): string[] {
  const unserved = modelRows(config).filter(({ enabled, channels }) => enabled && channels.length === 0)
  const keyless = config.channels.filter((channel) => channel.base_url !== 'simulator' && channel.api_key === '')
  const open = config.channels.filter((channel) => channel.base_url.startsWith('http://'))
  return [
    ...unserved.map(({ id }) => `model ${id} is on no channel: clients do not see it`),
    ...keyless.map(({ id }) => `channel ${id} has no api_key: its upstream is called without one`),
    ...open.map(({ id }) => `channel ${id} has an http base_url: keys and prompts travel unencrypted`),
  ]
}

/** One row of a price table: its conditions other than `any`, and the price. */
export function priceText(row: object): string {
  const members = Object.entries(row)
  const conditions = members
    .filter(([name, value]) => value !== 'any' && !isAmount(name))
    .map(([name, value]) => (typeof value === 'boolean' ? `${name} ${value ? 'on' : 'off'}` : String(value)))
  const amounts = members
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
