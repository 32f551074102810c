import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { decodeItem } from './attribute-value.ts'
import { isContention, retryConflicts } from './conflict-retry.ts'
import type { UpdatableTable } from './item-update.ts'
import type { Table } from './table.ts'

/** The table of a function that has the SDK, as one that updates single items. */
export function updatableTable(table: Table): UpdatableTable {
  return {
    async updateItem(update) {
      const command = new UpdateCommand({
        ...update,
        TableName: table.name,
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      try {
        const { Attributes } = await retryConflicts(() => table.client.send(command), isContention, table.pause)
        return { isWritten: true, item: Attributes }
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) {
          return { isWritten: false, item: error.Item === undefined ? undefined : decodeItem(error.Item) }
        }
        throw error
      }
    },
  }
}
