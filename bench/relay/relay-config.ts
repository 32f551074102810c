import { writeFileSync } from 'node:fs'
import { PACES, type Pace, UPSTREAM_MODEL } from './workload.ts'

/** What a request of a model costs: something, which is reserved and settled in the table, or nothing. */
export const PRICINGS = ['priced', 'free'] as const
export type Pricing = (typeof PRICINGS)[number]

/** Our models by price and pace; each name as long as the upstream's own. */
export const GATEWAY_MODELS: Readonly<Record<Pricing, Readonly<Record<Pace, string>>>> = {
  priced: { burst: 'gpt-mock', paced: 'gpt-slow' },
  free: { burst: 'gpt-free', paced: 'gpt-calm' },
}

/** In credits for a million tokens of input and output. */
const PRICES = {
  priced: { input_per_million: '0.15', output_per_million: '0.60' },
  free: { input_per_million: '0', output_per_million: '0' },
} as const

/** What the gateway adds to the usage of the JSON answer, by these prices. */
export const ADDED_COST: Readonly<Record<Pricing, string>> = { priced: ',"cost":0.000038', free: '' }

/** Channels of equal priority and weight for each model, so that every request is routed. */
const CHANNELS_PER_PACE = 2

/** Origins of the two upstreams. */
export type UpstreamOrigins = Readonly<Record<Pace, string>>

/** Writes a gateway configuration over the bench's upstreams. */
export function writeRelayConfig(file: string, origins: UpstreamOrigins): void {
  const config = {
    channels: PACES.flatMap((pace) =>
      Array.from({ length: CHANNELS_PER_PACE }, (_, index) => ({
        id: `${pace}-${index + 1}`,
        provider: 'openai',
        base_url: `${origins[pace]}/v1`,
        models: Object.fromEntries(PRICINGS.map((pricing) => [GATEWAY_MODELS[pricing][pace], UPSTREAM_MODEL])),
      })),
    ),
    models: PRICINGS.flatMap((pricing) =>
      PACES.map((pace) => ({
        id: GATEWAY_MODELS[pricing][pace],
        kind: 'chat',
        billing: 'token',
        context_tokens: 128_000,
        max_output_tokens: 16_384,
        prices: [PRICES[pricing]],
      })),
    ),
  }
  writeFileSync(file, JSON.stringify(config, null, 2))
}
