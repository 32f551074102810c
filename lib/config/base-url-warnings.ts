import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/** A version, as in `/v1`, `/openai/v1` or `/v1beta/openai`. */
const VERSION = /\/v\d[^/]*(\/|$)/

/**
 * Warns of base urls that are valid but probably wrong: as in the OpenAI SDKs, the base url of an OpenAI-compatible upstream
 * includes the version, without which every request there is a 404.
 */
export function baseUrlWarnings({ channels }: Pick<GatewayConfig, 'channels'>): string[] {
  return channels.flatMap(({ id, provider, base_url }) => {
    const isUnversioned = provider === 'openai' && URL.canParse(base_url) && !VERSION.test(new URL(base_url).pathname)
    return isUnversioned
      ? [
          `channel ${id} has a base_url without /v1, so chats go to ${base_url}/chat/completions; if that is wrong, write ${base_url}/v1`,
        ]
      : []
  })
}
