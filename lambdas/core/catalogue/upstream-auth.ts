import { LOOPBACK_NAMES } from '../http.ts'
import type { AwsAuth, Channel, RelayChannel, WorkloadIdentity } from './channel.ts'

/** The kinds of credentials that a channel may have. `none`: its upstream is called without one. */
export const CREDENTIAL_KINDS = ['none', 'api_key', 'aws', 'workload_identity'] as const

/** The kind of credential of a channel. */
export function credentialKind(channel: Channel): (typeof CREDENTIAL_KINDS)[number] {
  if (channel.provider === 'openai' && channel.auth !== undefined) {
    return channel.auth.aws === undefined ? 'workload_identity' : 'aws'
  }
  return channel.api_key === '' ? 'none' : 'api_key'
}

/** The address of a service in a region (AWS, "Amazon Bedrock endpoints"). */
function awsBaseUrl(service: AwsAuth['service'], region: string): string {
  return service === 'bedrock'
    ? `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/openai/v1`
    : `https://bedrock-mantle.${region}.api.aws/v1`
}

/**
 * Channels with the addresses and regions that follow from the region of the stage, where they name none.
 * @param region undefined where it is not known yet; then such channels stay as they are.
 */
export function withAddresses<Config extends { readonly channels: readonly Channel[] }>(
  config: Config,
  region: string | undefined,
): Config {
  return { ...config, channels: config.channels.map((channel) => withAddress(channel, region)) }
}

function withAddress(channel: Channel, stageRegion: string | undefined): Channel {
  const aws = channel.provider === 'openai' ? channel.auth?.aws : undefined
  const region = aws?.region ?? stageRegion
  if (channel.provider !== 'openai' || aws === undefined || region === undefined) {
    return channel
  }
  const address = channel.base_url === '' ? awsBaseUrl(aws.service, region) : channel.base_url
  return { ...channel, base_url: address, auth: { aws: { ...aws, region } } }
}

/** What each provider of tokens is called by: its own host, and the audience and endpoint of exchanges. */
export const TOKEN_PROVIDERS = {
  openai: {
    audience: 'https://api.openai.com/v1',
    tokenUrl: 'https://auth.openai.com/oauth/token',
    origins: ['https://api.openai.com', 'https://auth.openai.com'],
  },
  anthropic: {
    audience: 'https://api.anthropic.com',
    tokenUrl: 'https://api.anthropic.com/v1/oauth/token',
    origins: ['https://api.anthropic.com'],
  },
} as const satisfies Record<WorkloadIdentity['provider'], object>

type Place = { readonly path: readonly string[]; readonly message: string }

/** Addresses of a channel, by their places in the configuration. */
function addressesOf({ auth, base_url, apis, models }: RelayChannel): [readonly string[], string][] {
  const places: (readonly [readonly string[], string | undefined])[] = [
    [['base_url'], base_url],
    [['auth', 'workload_identity', 'token_url'], auth?.workload_identity?.token_url],
    [['apis', 'messages', 'base_url'], apis?.messages?.base_url],
    ...Object.entries(models).map(
      ([id, model]) =>
        [
          ['models', id, 'apis', 'messages', 'base_url'],
          typeof model === 'object' ? model.apis?.messages?.base_url : undefined,
        ] as const,
    ),
  ]
  return places.flatMap(([path, url]) => (url === undefined || url === 'simulator' ? [] : [[path, url]]))
}

/** Addresses to which requests that the role signs would travel unencrypted, and that are not on this machine. */
export function plainSignaturePlaces(channel: RelayChannel): Place[] {
  const message = 'requests that your role signs go over https; plain http is for this machine'
  return addressesOf(channel).flatMap(([path, url]) => {
    const { protocol, hostname } = URL.parse(url) ?? {}
    const isPlain = protocol === 'http:' && !LOOPBACK_NAMES.includes(hostname ?? '')
    return channel.auth?.aws !== undefined && isPlain ? [{ path, message }] : []
  })
}

/** Addresses that get a token of a channel, by their places in the configuration, and are not its provider's own. */
export function foreignTokenPlaces(channel: RelayChannel, trustedOrigins: readonly string[]): Place[] {
  const identity = channel.auth?.workload_identity
  if (identity === undefined) {
    return []
  }
  const { origins } = TOKEN_PROVIDERS[identity.provider]
  const known: readonly string[] = [...origins, ...trustedOrigins]
  const message = `a token of ${identity.provider} goes to its own hosts alone (${origins.join(', ')}), or to one of trusted_origins`
  return addressesOf(channel).flatMap(([path, url]) => (known.includes(originOf(url)) ? [] : [{ path, message }]))
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? ''
}
