import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Environment } from '../config/environment.ts'

/** The endpoint of one service: `AWS_ENDPOINT_URL_S3` and its like. */
const SERVICE_ENDPOINT = /^AWS_ENDPOINT_URL_[A-Z0-9_]+$/

/**
 * What a stack on an emulator is given besides its settings. Emulators tell functions `AWS_ENDPOINT_URL` themselves, as
 * it is where the functions run; an endpoint of a single service, such as one whose host S3 urls shall have, is handed on.
 * Its upstreams are simulated: what they offer for download is trusted though it is plain http on a private address.
 */
export function emulatorStackProps(config: GatewayConfig, environment: Environment) {
  const endpoints = Object.entries(environment).filter(([name, value]) => SERVICE_ENDPOINT.test(name) && value)
  const upstreams = config.channels.filter(({ provider }) => provider !== 'openai')
  const origins = upstreams.map(({ base_url }) => new URL(base_url).origin)
  return {
    config: { ...config, trusted_origins: [...new Set([...config.trusted_origins, ...origins])] },
    ...(environment.AWS_ENDPOINT_URL ? { emulatorEndpoint: environment.AWS_ENDPOINT_URL } : {}),
    functionEnvironment: Object.fromEntries(endpoints.map(([name, value]) => [name, String(value)])),
  }
}
