/**
 * Replaces `mnemonist/lru-cache` in bundles, which saves 5 KB. The SDK's DynamoDB client caches discovered endpoints there; endpoint
 * discovery is off unless the environment enables it, and no function does. Nothing is evicted, because an account has few
 * endpoints of one service.
 */
class DiscoveredEndpoints extends Map<string, unknown> {
  /** @param _capacity of the original's signature; a Map would read the number as its entries. */
  constructor(_capacity: number) {
    super()
  }

  peek(key: string): unknown {
    return this.get(key)
  }
}

export { DiscoveredEndpoints as default }
