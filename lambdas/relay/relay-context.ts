import { systemClock } from '#adapters/clock.ts'
import { createUpstreamConnections } from '#adapters/http/upstream-connection.ts'
import { once } from '#adapters/once.ts'
import { channelCredential, renewedCredential } from '#adapters/secrets/channel-credential.ts'
import type { CallerDirectory } from '#adapters/store/accounts/caller-directory.ts'
import type { KeyRateLimiter } from '#adapters/store/accounts/key-rate-limiter.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { openCallerContext } from '#middleware/caller-context.ts'
import { Breakers } from './breakers.ts'
import type { UpstreamContext } from './call-upstream.ts'

/** Everything that relaying takes from outside. */
export type RelayContext = UpstreamContext & {
  readonly catalogue: Catalogue
  readonly ledger: Pick<RelayLedger, 'reserve' | 'resolve'>
  readonly callers: Pick<CallerDirectory, 'lookUp' | 'confirm' | 'forget'>
  readonly rates: Pick<KeyRateLimiter, 'take'>
}

/**
 * The one context of a process: its ledger writes for a tenant one transaction at a time, and its breakers know what any
 * of its requests met, whichever operation it was.
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
