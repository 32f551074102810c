import { isContention } from './conflict-retry.ts'

const CONTENTION_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])

/** One reason of a cancelled transaction, as the SDK and the wire have it. */
type CancellationReason = { readonly Code?: string | undefined; readonly Item?: unknown }

/** At least one condition did not hold, and nothing was written. `failed[i]` says so of the i-th item. */
export class ConditionsNotMetError extends Error {
  override readonly name = 'ConditionsNotMetError'
  readonly failed: readonly boolean[]
  /** What lay in the table in place of the i-th item, in the wire's form; undefined where that was not asked for. */
  readonly stored: readonly unknown[]
  constructor(
    failed: readonly boolean[],
    { stored = [], ...options }: ErrorOptions & { readonly stored?: readonly unknown[] } = {},
  ) {
    super(`conditions not met: ${failed.flatMap((isFailed, index) => (isFailed ? [index] : [])).join(', ')}`, options)
    this.failed = failed
    this.stored = stored
  }
}

/** A conflict beside a failed condition is tried again: the condition may have been read in mid-conflict. */
export function isWorthAnotherTry(error: unknown): boolean {
  const codes = reasonCodes(error)
  return codes === undefined ? isContention(error) : codes.some((code) => CONTENTION_REASONS.has(code))
}

/** A transaction that was cancelled by its conditions alone becomes a ConditionsNotMetError; anything else stays as it is. */
export function explainCancellation(error: unknown): unknown {
  const codes = reasonCodes(error)
  const isOnlyConditions = codes?.every((code) => code === 'None' || code === 'ConditionalCheckFailed') === true
  if (codes === undefined || !isOnlyConditions) {
    return error
  }
  const failed = codes.map((code) => code === 'ConditionalCheckFailed')
  return new ConditionsNotMetError(failed, { cause: error, stored: cancellationReasons(error).map(({ Item }) => Item) })
}

/** Undefined for what is no cancelled transaction. */
function reasonCodes(error: unknown): string[] | undefined {
  const isCancelled = error instanceof Error && error.name === 'TransactionCanceledException'
  return isCancelled ? cancellationReasons(error).map(({ Code }) => Code ?? 'None') : undefined
}

function cancellationReasons(error: unknown): readonly CancellationReason[] {
  const reasons = error instanceof Error && 'CancellationReasons' in error ? error.CancellationReasons : undefined
  return Array.isArray(reasons) ? reasons : []
}
