import { randomUUID } from 'node:crypto'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { explainCancellation, isWorthAnotherTry } from './cancelled-transaction.ts'
import { retryConflicts } from './conflict-retry.ts'
import type { Table } from './table.ts'

/** One write or check of a transaction. */
export type TransactionItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

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
    throw explainCancellation(error)
  }
}
