import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/** A version, as in `/v1`, `/openai/v1` or `/v1beta/openai`. */
const VERSION = /\/v\d[^/]*(\/|$)/

/**
 * Base urls that are valid and most likely not meant: clients of OpenAI-style upstreams write the version into the base url,
 * and so do we; without it every request would be a 404 there.
 */
export function baseUrlWarnings({ channels }: Pick<GatewayConfig, 'channels'>): string[] {
  return channels.flatMap(({ id, provider, base_url }) => {
    const isUnversioned = provider === 'openai' && URL.canParse(base_url) && !VERSION.test(new URL(base_url).pathname)
    return isUnversioned
      ? [
          `channel ${id} has a base_url without /v1: chats go to ${base_url}/chat/completions; write ${base_url}/v1 unless that is right`,
        ]
      : []
  })
}
