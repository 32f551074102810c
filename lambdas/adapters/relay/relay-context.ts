import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { systemClock } from '../clock.ts'
import type { CallerDirectory } from '../ledger/caller-directory.ts'
import { RelayLedger } from '../ledger/relay-ledger.ts'
import { once } from '../once.ts'
import { channelCredential, renewedCredential } from '../secrets/channel-credential.ts'
import type { KeyRateLimiter } from '../stores/key-rate-limiter.ts'
import { Breakers } from './breakers.ts'
import type { UpstreamContext } from './call-upstream.ts'
import { openCallerContext } from './caller-context.ts'
import { createUpstreamConnections } from './upstream-connection.ts'

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
