import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { openCallerContext } from '#middleware/caller-context.ts'
import { once } from '#platform/cache.ts'
import { systemClock } from '#platform/clock.ts'
import type { CallerDirectory } from '#store/callers.ts'
import type { CurrentCatalogue } from '#store/current-catalogue.ts'
import type { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import { NamedUsers } from '#store/named-users.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { createUpstreamConnections } from '#upstream/providers/openai.ts'
import { Breakers } from './breakers.ts'
import { credential, renewed } from './channel-credential.ts'
import type { UpstreamContext } from './failover.ts'

/** What relaying takes from outside, for every request of a process. */
export type RelayProcess = Omit<UpstreamContext, 'currentCatalogue'> & {
  readonly currentCatalogue: Pick<CurrentCatalogue, 'read' | 'readBeside'>
  readonly ledger: Pick<RelayLedger, 'reserve' | 'resolve'>
  readonly callers: Pick<CallerDirectory, 'lookUp' | 'confirm' | 'forget'>
  readonly rates: Pick<KeyRateLimiter, 'take'>
  readonly users: Pick<NamedUsers, 'counted'>
}

/** What relaying one request takes from outside. */
export type RelayContext = RelayProcess & {
  /** As it was when the request began: whether its model exists and what its model costs do not change during the request. */
  readonly catalogue: Catalogue
}

/**
 * The one context of a process: the ledger writes one transaction at a time for each tenant, and the breakers hear of
 * every request, whichever operation it belongs to.
 */
export const openRelayContext: () => RelayProcess & { readonly breakers: Breakers } = once(() => {
  const { table, currentCatalogue, callers, rates } = openCallerContext()
  return {
    ...systemClock,
    random: Math.random,
    currentCatalogue,
    callers,
    rates,
    users: new NamedUsers(table),
    ledger: new RelayLedger(table),
    breakers: new Breakers(),
    connections: createUpstreamConnections(),
    credential,
    renewedCredential: renewed,
  }
})
