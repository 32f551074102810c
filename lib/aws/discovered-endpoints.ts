/**
 * Stands in for `mnemonist/lru-cache` in the bundles of functions: the SDK's DynamoDB client keeps the endpoints there
 * that it discovers, which it does only where the environment asks for it, and no function of ours does. It is 5 KB less to
 * load. Endpoints of one service and account are few, so that nothing need be forgotten.
 */
class DiscoveredEndpoints extends Map<string, unknown> {
  /** @param _capacity as the original has it; a Map would take the number for its entries */
  constructor(_capacity: number) {
    super()
  }

  peek(key: string): unknown {
    return this.get(key)
  }
}

export { DiscoveredEndpoints as default }
