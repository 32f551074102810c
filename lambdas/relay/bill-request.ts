import { BudgetExceededError } from '#core/budgets.ts'
import type { RelayModel } from '#core/catalogue/model.ts'
import { InsufficientQuotaError, NoChannelAvailableError } from '#core/errors.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import type { Billing, Charge, Priced } from '#core/pricing/usage.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count, creditsForGraphs } from '#platform/telemetry/measures.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { servingChannels } from './failover.ts'
import type { RelayContext } from './relay-context.ts'
import type { RelayExchange } from './relay-exchange.ts'
import type { RelayRequest } from './relay-protocol.ts'

/** The minimum `Retry-After` while every breaker is open, because an operator may enable a channel at any time. */
const NO_CHANNEL_RETRY_SECONDS = 1

/** The bill of a request. Without a call of `settle` the request is free: its reservation is released. */
export type Bill = {
  /** What was reserved, and the usage that it would pay for. */
  readonly estimate: Charge
  /** Whether the request costs something as settled so far. If so, an error response tells SDKs not to retry. */
  readonly isBilled: boolean
  /** The cost as settled so far. Undefined before that, and for a model without a price, which is not billed. */
  readonly cost: Microcredits | undefined
  /** The ledger marks an estimated bill, and a metric counts it. */
  settle(priced: Pick<Priced, 'charge' | 'isEstimated'>): void
}

/** The part of an exchange that billing needs. */
type BilledExchange = Pick<
  RelayExchange,
  'operation' | 'requestId' | 'caller' | 'confirmCaller' | 'note' | 'tellFailure' | 'channelId' | 'outcome'
>

type Billed = {
  readonly exchange: BilledExchange
  readonly request: {
    readonly model: RelayModel
    readonly billing: Pick<Billing<never>, 'advise'>
    readonly rankOf?: RelayRequest<never>['rankOf']
  }
  /** An upper bound of the price. */
  readonly estimate: Charge
  /** The user under which it is counted; undefined where users are not. */
  readonly user?: string | undefined
}

/**
 * Reserves the estimate, calls `run`, and resolves the reservation exactly once, whatever happens in between, as the bill
 * stands when `run` ends or throws. `run` ends after the last byte, and a failure is sent at once, so that no client waits
 * for the settlement.
 * A model without a price needs no reservation; the key is confirmed by a read instead.
 * @throws InvalidApiKeyError, CallerChangedError, BudgetExceededError, InsufficientQuotaError, NoChannelAvailableError, ServiceUnavailableError before `run`,
 * and whatever `run` throws.
 */
export async function billRequest(
  context: Pick<RelayContext, 'catalogue' | 'ledger' | 'nowMilliseconds'>,
  billed: Billed,
  run: (bill: Bill) => Promise<void>,
): Promise<void> {
  const { exchange, request, estimate } = billed
  if (servingChannels(context.catalogue.relayChannels(request.model.id), request.rankOf).length === 0) {
    // Nothing is reserved. Without a reservation, a read proves the key.
    await exchange.confirmCaller()
    throw new NoChannelAvailableError(NO_CHANNEL_RETRY_SECONDS)
  }
  if (estimate.amount === ZERO) {
    await exchange.confirmCaller()
    await run({ estimate, isBilled: false, cost: undefined, settle: () => undefined })
    return
  }
  const reservation = reservationOf(billed, context.nowMilliseconds())
  // A `catch` of the promise made each request outlive two garbage collections, which cost a tenth of its CPU (docs/decisions/0121).
  try {
    await context.ledger.reserve(reservation)
  } catch (error) {
    throwAdvised(error, billed)
  }
  let settlement: Settlement | undefined
  const bill: Bill = {
    estimate,
    get isBilled() {
      return settlement !== undefined && settlement.charge.amount > ZERO
    },
    get cost() {
      return settlement?.charge.amount
    },
    settle: (priced) => {
      settlement = priced
    },
  }
  let failure: unknown
  try {
    await run(bill)
  } catch (error) {
    failure = error
    exchange.tellFailure(error, bill)
    throw error
  } finally {
    // A failure to resolve is logged by the ledger and repaired by Reconcile; the request itself has not failed.
    const resolution = { ...resolutionOf(settlement, exchange), outcome: exchange.outcome(failure) }
    const outcome = await context.ledger.resolve(reservation, resolution).catch(() => undefined)
    if (settlement !== undefined) {
      if (outcome === 'resolved') {
        exchange.note({ billedCredits: creditsForGraphs(settlement.charge.amount) })
      }
      report(settlement, billed)
    }
  }
}

function reservationOf({ exchange, request, estimate, user }: Billed, reservedAt: number): RelayReservation {
  const { tenantId, keyDigest, keyId, revision, budget } = exchange.caller
  const { requestId, operation } = exchange
  const caller = { tenantId, keyDigest, keyRevision: revision, keyId, budget, user }
  return { ...caller, requestId, model: request.model.id, operation, amount: estimate.amount, reservedAt }
}

type Settlement = Pick<Priced, 'charge' | 'isEstimated'>

function resolutionOf(
  settlement: Settlement | undefined,
  { channelId }: Pick<BilledExchange, 'channelId'>,
): RelayResolution {
  if (settlement === undefined) {
    return { kind: 'release' }
  }
  const { charge, isEstimated: estimated } = settlement
  const { amount: actual, usage } = charge
  return { kind: 'settle', actual, estimated, usage, ...(channelId === undefined ? {} : { channel: channelId }) }
}

/** Adds advice to an error about the balance or a budget: what it would have covered, if anything. @throws always */
function throwAdvised(error: unknown, { request }: Billed): never {
  const advice = (amount: Microcredits) => (amount > ZERO ? request.billing.advise(amount) : undefined)
  if (error instanceof InsufficientQuotaError && error.shortfall !== undefined) {
    const { shortfall } = error
    throw new InsufficientQuotaError('request', { ...shortfall, advice: advice(shortfall.available) })
  }
  if (error instanceof BudgetExceededError && error.shortfall !== undefined) {
    throw new BudgetExceededError({ ...error.shortfall, advice: advice(error.shortfall.left) })
  }
  throw error
}

function report({ charge: { amount }, isEstimated }: Settlement, { exchange, request, estimate }: Billed): void {
  const model = request.model.id
  if (isEstimated) {
    count('billed_at_estimate', { model })
  }
  if (amount > estimate.amount) {
    logger.error('the request cost more than its reservation', {
      requestId: exchange.requestId,
      model,
      overdraft: (amount - estimate.amount).toString(),
    })
    count('overdraft', { model })
  }
}
