import { writeFileSync } from 'node:fs'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { OUTPUT_TOKENS_MAX, PRICE_MICROCREDITS } from './marked-usage.ts'

/** Public names of the models. */
export const MODELS = {
  chat: 'traffic-chat',
  dear: 'traffic-dear',
  embedding: 'traffic-embedding',
  image: 'traffic-image',
}

/** Two channels for each model, so that every request is routed. */
const CHANNELS = ['first', 'second']

/** Credits for a million tokens are microcredits for one. */
const CHAT_PRICES = {
  input_per_million: String(PRICE_MICROCREDITS.inputToken),
  output_per_million: String(PRICE_MICROCREDITS.outputToken),
}

/** No tenant of the traffic can pay a request of this model. */
const DEAR_PRICES = { input_per_million: '1', output_per_million: '1000000000' }

/** Writes a gateway configuration whose models are served by one upstream. Breakers that faults open stay open for a second. */
export function writeTrafficConfig(file: string, upstreamOrigin: string): void {
  const chat = { kind: 'chat', billing: 'token', context_tokens: 8_192, max_output_tokens: OUTPUT_TOKENS_MAX }
  const upstreamModels = Object.fromEntries(Object.values(MODELS).map((model) => [model, `upstream-${model}`]))
  const config = {
    channels: CHANNELS.map((id) => ({
      id,
      provider: 'openai',
      base_url: `${upstreamOrigin}/v1`,
      models: upstreamModels,
      breaker: { failures: 1_000 },
    })),
    models: [
      { ...chat, id: MODELS.chat, prices: [CHAT_PRICES] },
      { ...chat, id: MODELS.dear, prices: [DEAR_PRICES] },
      {
        id: MODELS.embedding,
        kind: 'embedding',
        billing: 'token',
        max_input_tokens: 8_192,
        default_dimensions: 3,
        dimensions: false,
        prices: [{ input_per_million: CHAT_PRICES.input_per_million }],
      },
      {
        id: MODELS.image,
        kind: 'image',
        billing: 'per_image',
        sizes: ['512x512'],
        n: { max: 10 },
        prices: [{ price: String(PRICE_MICROCREDITS.image / 1_000_000) }],
      },
    ],
  }
  writeFileSync(file, JSON.stringify(gatewayConfigSchema.parse(config)))
}
