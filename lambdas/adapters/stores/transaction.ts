import { randomUUID } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { isContention, retryConflicts } from './conflict-retry.ts'
import type { Table } from './table.ts'

export type TransactionItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

const CONTENTION_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])

/** At least one condition did not hold, and nothing was written. `failed[i]` says so of the i-th item. */
export class ConditionsNotMetError extends Error {
  override readonly name = 'ConditionsNotMetError'
  readonly failed: readonly boolean[]
  constructor(failed: readonly boolean[], options?: ErrorOptions) {
    super(`conditions not met: ${failed.flatMap((isFailed, index) => (isFailed ? [index] : [])).join(', ')}`, options)
    this.failed = failed
  }
}

/**
 * Writes all items or none, with one idempotency token for all tries of this call. Protection across calls
 * comes from the conditions, never from the token.
 * @throws ConditionsNotMetError when a condition failed, which is final.
 * @throws ServiceUnavailableError when conflicts or throttling outlast every try.
 */
export async function transact(table: Table, items: TransactionItem[]): Promise<void> {
  const input = { TransactItems: items, ClientRequestToken: randomUUID() }
  try {
    await retryConflicts(() => table.client.send(new TransactWriteCommand(input)), isWorthAnotherTry, table.pause)
  } catch (error) {
    throw error instanceof TransactionCanceledException ? explainCancellation(error) : error
  }
}

/** A conflict beside a failed condition is tried again: the condition may have been read in mid-conflict. */
function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof TransactionCanceledException) {
    return reasonCodes(error).some((code) => CONTENTION_REASONS.has(code))
  }
  return isContention(error)
}

function explainCancellation(error: TransactionCanceledException): Error {
  const codes = reasonCodes(error)
  const isOnlyConditions = codes.every((code) => code === 'None' || code === 'ConditionalCheckFailed')
  const failed = codes.map((code) => code === 'ConditionalCheckFailed')
  return isOnlyConditions ? new ConditionsNotMetError(failed, { cause: error }) : error
}

function reasonCodes(error: TransactionCanceledException): string[] {
  return (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None')
}
