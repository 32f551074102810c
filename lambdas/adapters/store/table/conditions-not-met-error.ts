import { isContention } from '../../aws/retry-on-contention.ts'
import { decodeItem, type Item } from './item-codec.ts'

const CONTENTION_REASONS: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
])

/** One reason of a cancelled transaction, as the SDK and the wire have it. */
type CancellationReason = { readonly Code?: string | undefined; readonly Item?: unknown }

/** Names in the message of an error: a group of writes may have ninety. */
const NAMES_SHOWN_MAX = 5

/** At least one condition of a transaction did not hold, and nothing was written. */
export class ConditionsNotMetError extends Error {
  override readonly name = 'ConditionsNotMetError'
  /** Names of the writes whose conditions did not hold, in the order of the transaction. */
  readonly failed: ReadonlySet<string>
  /** The items that refused those writes, by name; only those that exist, of writes that ask for `ALL_OLD`. */
  readonly oldItems: ReadonlyMap<string, Item>
  /** False if the outcome of an earlier try is unknown: that try may still arrive, and be written if its conditions hold by then. */
  readonly isFinal: boolean

  constructor(failed: Iterable<string>, { oldItems = new Map(), isFinal = true, ...options }: RefusalOptions = {}) {
    const names = [...failed]
    const more = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ''
    super(`conditions not met: ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`, options)
    this.failed = new Set(names)
    this.oldItems = oldItems
    this.isFinal = isFinal
  }
}

type RefusalOptions = ErrorOptions & {
  readonly oldItems?: ReadonlyMap<string, Item>
  readonly isFinal?: boolean
}

/** Whether the table refused a request and has forgotten it; after other errors it may have been written, or may yet arrive. */
export function isRefusal(error: unknown): boolean {
  const isInProgress = error instanceof Error && error.name.startsWith('TransactionInProgress')
  const isOfClient = error instanceof Error && '$fault' in error && error.$fault === 'client'
  return cancellationReasons(error) !== undefined || (isOfClient && !isInProgress)
}

/** A conflict beside a failed condition is worth another try: the condition may have been read in the middle of that conflict. */
export function isWorthAnotherTry(error: unknown): boolean {
  const reasons = cancellationReasons(error)
  return reasons === undefined
    ? isContention(error)
    : reasons.some(({ Code }) => CONTENTION_REASONS.has(Code ?? 'None'))
}

/** Whether another transaction was at work on an item, and nothing else was wrong. */
export function isConflict(error: unknown): boolean {
  const codes = (cancellationReasons(error) ?? []).map(({ Code = 'None' }) => Code).filter((code) => code !== 'None')
  return codes.length > 0 && codes.every((code) => code === 'TransactionConflict')
}

/**
 * Turns a transaction that only its conditions cancelled into a {@link ConditionsNotMetError}; gives back any other error.
 * @param names of the writes, in the order of the transaction.
 * @param isFinal whether all earlier tries were refused too.
 */
export function explainCancellation(error: unknown, names: readonly string[], isFinal: boolean): unknown {
  const reasons = cancellationReasons(error)
  const isOnlyConditions = reasons?.every(({ Code = 'None' }) => Code === 'None' || Code === 'ConditionalCheckFailed')
  if (reasons === undefined || isOnlyConditions !== true) {
    return error
  }
  const failed: string[] = []
  const oldItems = new Map<string, Item>()
  for (const [index, { Code, Item }] of reasons.entries()) {
    const name = names[index]
    if (name !== undefined && Code === 'ConditionalCheckFailed') {
      failed.push(name)
      if (Item !== undefined) {
        oldItems.set(name, decodeItem(Item))
      }
    }
  }
  return new ConditionsNotMetError(failed, { cause: error, oldItems, isFinal })
}

/** Undefined for an error that is not a cancelled transaction. */
function cancellationReasons(error: unknown): readonly CancellationReason[] | undefined {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') {
    return undefined
  }
  const reasons = 'CancellationReasons' in error ? error.CancellationReasons : undefined
  return Array.isArray(reasons) ? reasons : []
}
