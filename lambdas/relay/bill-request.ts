import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { creditsForGraphs } from '#adapters/telemetry/measure.ts'
import type { RelayModel } from '#core/catalogue/model.ts'
import { InsufficientQuotaError } from '#core/errors.ts'
import type { Microcredits } from '#core/money/money.ts'
import type { RelayContext } from './relay-context.ts'
import type { RelayRequest } from './relay-request.ts'

/** What a request comes to. Nothing said means that it is free: its reservation is given back. */
export type Bill = {
  /** What was locked. */
  readonly locked: Microcredits
  /** Whether the request costs something by what was said so far. An error that is told then is not to be tried again. */
  readonly isBilled: boolean
  settle(actual: Microcredits): void
  /** Bills without the upstream's word for it, which the ledger marks and a metric counts. */
  settleByEstimate(actual: Microcredits): void
}

type Billed = {
  readonly request: RelayRequest
  readonly operation: string
  readonly model: RelayModel
  readonly estimate: Microcredits
  /** What a client could ask for with so little; undefined where nothing less would do. */
  readonly adviseFor?: (available: Microcredits) => string | undefined
}

/**
 * Locks the estimate, runs, and resolves the reservation exactly once, whatever happens in between: by what `run` has
 * said when it ends or throws. `run` ends after the last byte, and a failure is told at once, so that no client waits for
 * the settlement.
 * A model whose price is nothing needs no reservation; its key is confirmed by a read instead.
 * @throws InvalidApiKeyError, InsufficientQuotaError, ServiceUnavailableError before `run`, and whatever `run` throws.
 */
export async function billRequest(
  context: Pick<RelayContext, 'ledger' | 'nowMilliseconds'>,
  { request, operation, model, estimate, adviseFor }: Billed,
  run: (bill: Bill) => Promise<void>,
): Promise<void> {
  if (estimate === 0n) {
    await request.confirmCaller()
    await run({ locked: estimate, isBilled: false, settle: () => undefined, settleByEstimate: () => undefined })
    return
  }
  const { tenantId, keyDigest, keyId } = request.caller
  const reservation = {
    tenantId,
    keyDigest,
    keyId,
    requestId: request.requestId,
    model: model.id,
    operation,
    amount: estimate,
    reservedAt: context.nowMilliseconds(),
  }
  await context.ledger.reserve(reservation).catch((error) => throwAdvised(error, adviseFor))
  let settlement: { actual: Microcredits; estimated: boolean } | undefined
  const bill: Bill = {
    locked: estimate,
    get isBilled() {
      return settlement !== undefined && settlement.actual > 0n
    },
    settle: (actual) => {
      settlement = { actual, estimated: false }
    },
    settleByEstimate: (actual) => {
      settlement = { actual, estimated: true }
    },
  }
  try {
    await run(bill)
  } catch (error) {
    // The client need not wait for its money to come back either.
    request.tellFailure(error, bill)
    throw error
  } finally {
    const resolution = settlement === undefined ? RELEASE : ({ kind: 'settle', ...settlement } as const)
    // What could not be resolved has been logged, and is given back by Reconcile; it is no other failure of the request.
    const outcome = await context.ledger.resolve(reservation, resolution).catch(() => undefined)
    if (outcome === 'resolved' && settlement !== undefined) {
      request.note({ billedCredits: creditsForGraphs(settlement.actual) })
    }
    report(settlement, { request, model, estimate })
  }
}

/** The balance that refused the reservation says what would have passed. @throws always */
function throwAdvised(error: unknown, adviseFor: Billed['adviseFor']): never {
  const shortfall = error instanceof InsufficientQuotaError ? error.shortfall : undefined
  if (shortfall === undefined || adviseFor === undefined) {
    throw error
  }
  throw new InsufficientQuotaError('request', { ...shortfall, advice: adviseFor(shortfall.available) })
}

const RELEASE = { kind: 'release' } as const

function report(
  settlement: { actual: Microcredits; estimated: boolean } | undefined,
  { request, model, estimate }: Pick<Billed, 'request' | 'model' | 'estimate'>,
): void {
  if (settlement === undefined) {
    return
  }
  if (settlement.estimated) {
    count('billed_at_estimate', { model: model.id })
  }
  if (settlement.actual > estimate) {
    const overdraft = settlement.actual - estimate
    logger.error('the request cost more than its reservation', {
      requestId: request.requestId,
      model: model.id,
      overdraft: overdraft.toString(),
    })
    count('overdraft', { model: model.id })
  }
}
