import { writeFileSync } from 'node:fs'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { parseCredits } from '#core/money.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { MODELS, OUTPUT_TOKENS_MAX, PRICE_MICROCREDITS } from './marked-request.ts'

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

/** Credits that a tenant is granted: its own number of thousands, so that a balance tells whose it is. */
export function grantedCredits(tenant: number): number {
  return (tenant + 1) * 1_000
}

/** Requests a minute of a tenant's key: its own number. */
export function ratePerMinute(tenant: number): number {
  return 50_000 + tenant
}

/** A tenant of the traffic, with one key. */
export type TrafficTenant = { readonly id: string; readonly key: string; readonly keyId: string }

type TenantsToMake = {
  readonly count: number
  /** False for keys without a limit. Default: each key has its own. */
  readonly isRateLimited?: boolean
  /** What each is granted. Default: by its number. */
  readonly credits?: string
}

/** Makes tenants; the number of a tenant is its place in the list. */
export async function makeTrafficTenants(
  table: Table,
  { count, isRateLimited = true, credits }: TenantsToMake,
): Promise<readonly TrafficTenant[]> {
  const actor = { name: 'test', role: 'operator' } as const
  return await Promise.all(
    Array.from({ length: count }, async (_, tenant) => {
      const id = crypto.randomUUID()
      const key = generateApiKey()
      const granted = parseCredits(credits ?? String(grantedCredits(tenant)))
      await makeTenant(table, { id, name: `Traffic ${tenant}`, credits: granted }, actor)
      const limit = isRateLimited ? { ratePerMinute: ratePerMinute(tenant) } : {}
      const keyId = await storeApiKey(table, { key, tenantId: id, models: null, ...limit }, actor)
      return { id, key, keyId }
    }),
  )
}
