import { systemClock } from '#adapters/clock.ts'
import { once } from '#adapters/once.ts'
import { createUpstreamConnections } from '#adapters/providers/openai/upstream-connections.ts'
import { channelCredential, renewedCredential } from '#adapters/secrets/channel-credential.ts'
import type { CallerDirectory } from '#adapters/store/accounts/caller-directory.ts'
import type { KeyRateLimiter } from '#adapters/store/accounts/key-rate-limiter.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { openCallerContext } from '#middleware/caller-context.ts'
import { Breakers } from './breakers.ts'
import type { UpstreamContext } from './failover.ts'

/** What relaying takes from outside. */
export type RelayContext = UpstreamContext & {
  readonly catalogue: Catalogue
  readonly ledger: Pick<RelayLedger, 'reserve' | 'resolve'>
  readonly callers: Pick<CallerDirectory, 'lookUp' | 'confirm' | 'forget'>
  readonly rates: Pick<KeyRateLimiter, 'take'>
}

/**
 * The one context of a process: the ledger writes one transaction at a time for each tenant, and the breakers hear of
 * every request, whichever operation it belongs to.
 */
export const openRelayContext: () => RelayContext = once(() => {
  const { table, catalogue, callers, rates } = openCallerContext()
  return {
    ...systemClock,
    random: Math.random,
    catalogue,
    callers,
    rates,
    ledger: new RelayLedger(table),
    breakers: new Breakers(),
    connections: createUpstreamConnections(),
    credential: channelCredential,
    renewedCredential,
  }
})
