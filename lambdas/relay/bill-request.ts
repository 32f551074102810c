import type { RelayResolution } from '#adapters/store/money/relay-reservation.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { creditsForGraphs } from '#adapters/telemetry/measure.ts'
import type { RelayModel } from '#core/catalogue/model.ts'
import { InsufficientQuotaError, InvalidApiKeyError, NoChannelAvailableError } from '#core/errors.ts'
import { BudgetExceededError } from '#core/money/budget-exceeded-error.ts'
import { type Microcredits, ZERO } from '#core/money/money.ts'
import type { Charge } from '#core/quota/counted-usage.ts'
import type { RelayContext } from './relay-context.ts'
import type { RelayExchange } from './relay-exchange.ts'

/** The minimum `Retry-After` while every breaker is open, because an operator may enable a channel at any time. */
const NO_CHANNEL_RETRY_SECONDS = 1

/** The bill of a request. Without a call of `settle` or `settleByEstimate` the request is free: its reservation is released. */
export type Bill = {
  /** What was reserved, and the usage that it would pay for. */
  readonly estimate: Charge
  /** Whether the request costs something as settled so far. If so, an error response tells SDKs not to retry. */
  readonly isBilled: boolean
  /** The cost as settled so far. Undefined before that, and for a model without a price, which is not billed. */
  readonly cost: Microcredits | undefined
  settle(charge: Charge): void
  /** Settles without usage from the upstream; the ledger marks such a bill, and a metric counts it. */
  settleByEstimate(charge: Charge): void
}

/** The part of an exchange that billing needs. */
type BilledExchange = Pick<
  RelayExchange,
  'operation' | 'requestId' | 'caller' | 'confirmCaller' | 'renewCaller' | 'note' | 'tellFailure' | 'channelId'
>

type Billed = {
  readonly exchange: BilledExchange
  readonly model: RelayModel
  /** An upper bound of the price. */
  readonly estimate: Charge
  /** Advises which smaller request an amount above zero would cover; undefined if no smaller request is possible. */
  readonly adviseFor?: (available: Microcredits) => string | undefined
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
  { exchange, model, estimate, adviseFor }: Billed,
  run: (bill: Bill) => Promise<void>,
): Promise<void> {
  await requireChannel(context, exchange, model)
  if (estimate.amount === ZERO) {
    await exchange.confirmCaller()
    await run({
      estimate,
      isBilled: false,
      cost: undefined,
      settle: () => undefined,
      settleByEstimate: () => undefined,
    })
    return
  }
  const { tenantId, keyDigest, keyId, revision, budget } = exchange.caller
  const reservation = {
    tenantId,
    keyDigest,
    keyRevision: revision,
    keyId,
    requestId: exchange.requestId,
    model: model.id,
    operation: exchange.operation,
    amount: estimate.amount,
    budget,
    reservedAt: context.nowMilliseconds(),
  }
  try {
    await context.ledger.reserve(reservation)
  } catch (error) {
    await renewRefusedKey(exchange, error)
    throwAdvised(error, adviseFor)
  }
  let settlement: Settlement | undefined
  const bill: Bill = {
    estimate,
    get isBilled() {
      return settlement !== undefined && settlement.amount > ZERO
    },
    get cost() {
      return settlement?.amount
    },
    settle: (charge) => {
      settlement = { ...charge, estimated: false }
    },
    settleByEstimate: (charge) => {
      settlement = { ...charge, estimated: true }
    },
  }
  try {
    await run(bill)
  } catch (error) {
    exchange.tellFailure(error, bill)
    throw error
  } finally {
    // A failure to resolve is logged by the ledger and repaired by Reconcile; the request itself has not failed.
    const outcome = await context.ledger.resolve(reservation, resolutionOf(settlement, exchange)).catch(() => undefined)
    if (settlement !== undefined) {
      if (outcome === 'resolved') {
        exchange.note({ billedCredits: creditsForGraphs(settlement.amount) })
      }
      report(settlement, { exchange, model, estimate })
    }
  }
}

/** What a client is shown as the cost of a charge; undefined for a model without a price. */
export function shownCost({ estimate }: Pick<Bill, 'estimate'>, { amount }: Charge): Microcredits | undefined {
  return estimate.amount === ZERO ? undefined : amount
}

/** Where every channel of a model is disabled, nothing is reserved. Without a reservation, a read proves the key. */
async function requireChannel(
  { catalogue }: Pick<RelayContext, 'catalogue'>,
  exchange: Pick<BilledExchange, 'confirmCaller'>,
  model: RelayModel,
): Promise<void> {
  if (catalogue.relayChannels(model.id).length === 0) {
    await exchange.confirmCaller()
    throw new NoChannelAvailableError(NO_CHANNEL_RETRY_SECONDS)
  }
}

type Settlement = Charge & { readonly estimated: boolean }

function resolutionOf(
  settlement: Settlement | undefined,
  { channelId }: Pick<BilledExchange, 'channelId'>,
): RelayResolution {
  if (settlement === undefined) {
    return { kind: 'release' }
  }
  const { amount: actual, estimated, usage } = settlement
  return { kind: 'settle', actual, estimated, usage, ...(channelId === undefined ? {} : { channel: channelId }) }
}

/** A key that was changed since it was read is refused like a revoked one; only a read can tell them apart. */
async function renewRefusedKey(exchange: BilledExchange, error: unknown): Promise<void> {
  if (error instanceof InvalidApiKeyError) {
    await exchange.renewCaller()
  }
}

/** Adds advice to an error about the balance or a budget: what it would have covered, if anything. @throws always */
function throwAdvised(error: unknown, adviseFor: Billed['adviseFor']): never {
  const advice = (amount: Microcredits) => (amount > ZERO ? adviseFor?.(amount) : undefined)
  if (error instanceof InsufficientQuotaError && error.shortfall !== undefined) {
    const { shortfall } = error
    throw new InsufficientQuotaError('request', { ...shortfall, advice: advice(shortfall.available) })
  }
  if (error instanceof BudgetExceededError && error.shortfall !== undefined) {
    throw new BudgetExceededError({ ...error.shortfall, advice: advice(error.shortfall.left) })
  }
  throw error
}

function report({ amount, estimated }: Settlement, { exchange, model, estimate }: Billed): void {
  if (estimated) {
    count('billed_at_estimate', { model: model.id })
  }
  if (amount > estimate.amount) {
    logger.error('the request cost more than its reservation', {
      requestId: exchange.requestId,
      model: model.id,
      overdraft: (amount - estimate.amount).toString(),
    })
    count('overdraft', { model: model.id })
  }
}
