import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Environment } from '../config/platform-facts.ts'

/** The variable for the endpoint of one service, such as `AWS_ENDPOINT_URL_S3`. */
const SERVICE_ENDPOINT = /^AWS_ENDPOINT_URL_[A-Z0-9_]+$/

/**
 * Additional properties of a stack on an emulator. Emulators set `AWS_ENDPOINT_URL` for functions themselves; endpoints of
 * single services, such as one with the host of S3 urls, are passed on. The origins of the simulated upstreams become trusted,
 * because downloads from them use plain http and private addresses.
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
