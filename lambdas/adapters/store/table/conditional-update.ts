import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { isContention, retryConflicts } from './conflict-retry.ts'
import type { Table } from './table.ts'

type Update = Omit<UpdateCommandInput, 'TableName' | 'ReturnValues'>

/**
 * Updates one item if its condition holds.
 * @returns the item after the update, or undefined when the condition did not hold and nothing was written.
 */
export async function conditionalUpdate(table: Table, update: Update): Promise<Record<string, unknown> | undefined> {
  const command = new UpdateCommand({ ...update, TableName: table.name, ReturnValues: 'ALL_NEW' })
  try {
    const { Attributes } = await retryConflicts(() => table.client.send(command), isContention, table.pause)
    return Attributes ?? {}
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) {
      return undefined
    }
    throw error
  }
}
