import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import { type GatewayConfig, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import type { CurrentCatalogue } from '#store/current-catalogue.ts'

/** Billed by the second at 0.14: five seconds are 0.70 credits. */
export const PER_SECOND_MODEL = 'famB-1.0-t2v'
/** Billed by completion tokens at 7.00 per million. */
const TOKEN_MODEL = 'famA-2'

type ChannelInput = Readonly<Record<string, unknown>>

/** Two channels, `main` before `spare`, that both serve both models; `channels` overrides members of each. */
export function testCatalogue(
  config: Partial<GatewayConfig> = {},
  channels: { main?: ChannelInput; spare?: ChannelInput } = {},
): Catalogue {
  const common = {
    provider: 'p2',
    route: 'direct',
    base_url: 'http://127.0.0.1:9',
    models: { [PER_SECOND_MODEL]: 'upstream-b', [TOKEN_MODEL]: 'upstream-a' },
  }
  return createCatalogue(
    gatewayConfigSchema.parse({
      channels: [
        { ...common, id: 'main', priority: 0, ...channels.main },
        { ...common, id: 'spare', priority: 1, ...channels.spare },
      ],
      models: [model(PER_SECOND_MODEL, 'per_second', '0.14'), model(TOKEN_MODEL, 'token', '7.00')],
      ...config,
    }),
  )
}

function model(id: string, billing: string, price: string) {
  return {
    id,
    kind: 'video',
    durations: { min: 3, max: 15 },
    resolutions: ['480P', '720P', '1080P'],
    default_resolution: '720P',
    audio: { supported: true, default: true },
    images: { min: 0, max: 9 },
    videos: { min: 0, max: 0 },
    audios: { min: 0, max: 0 },
    billing,
    prices: [{ price }],
  }
}

/** A deployment in which no operator has set a switch; nothing is read. */
export function unswitched(catalogue: Catalogue): Pick<CurrentCatalogue, 'read' | 'readBeside'> {
  return { read: async () => catalogue, readBeside: (other) => other() }
}
