import { randomUUID } from 'node:crypto'
import { AwsServiceError } from '../../aws/aws-service-error.ts'
import { type CallAws, callAwsService } from '../../aws/call-aws-service.ts'
import type { Clock } from '../../clock.ts'
import { environmentVariable } from '../../environment.ts'
import { decodeItem, encodeItem, type Item } from './attribute-value.ts'
import { explainCancellation, isWorthAnotherTry } from './cancelled-transaction.ts'
import { isContention, retryConflicts } from './conflict-retry.ts'
import type { UpdatableTable } from './item-update.ts'
import type { TableKey } from './table-keys.ts'
import type { TableWrite } from './table-write.ts'

/** The single table, as the relay uses it: without the SDK, whose client costs three times the work of a request. */
export interface LeanTable {
  /** Reads one item, strongly consistent. @throws ServiceUnavailableError when the table stays out of reach. */
  getItem(key: TableKey): Promise<Item | undefined>
  /**
   * Writes all or nothing, with one idempotency token for all tries of this call.
   * @throws ConditionsNotMetError when a condition failed, which is final.
   * @throws ServiceUnavailableError when conflicts, throttling or faults outlast every try. What the last tries did is not
   * known then.
   */
  transact(writes: readonly TableWrite[]): Promise<void>
}

type Network = { readonly call?: CallAws; readonly pause?: Clock['pause'] }

/** Opens the table that the environment names (`TABLE_NAME`). Tests put faults in the way of its calls. */
export function openLeanTable({ call = callAwsService, pause }: Network = {}): LeanTable & UpdatableTable {
  const name = environmentVariable('TABLE_NAME')
  const send = (operation: string, input: object) =>
    call({ service: 'dynamodb', target: `DynamoDB_20120810.${operation}`, body: JSON.stringify(input) })
  return {
    async getItem(key) {
      const input = { TableName: name, Key: encodeItem(key), ConsistentRead: true }
      const { Item } = await retryConflicts(() => send('GetItem', input), isContention, pause)
      return Item === undefined ? undefined : decodeItem(Item)
    },
    async transact(writes) {
      const TransactItems = writes.map((write) => encodeWrite(write, name))
      const input = { TransactItems, ClientRequestToken: randomUUID() }
      try {
        await retryConflicts(() => send('TransactWriteItems', input), isWorthAnotherTry, pause)
      } catch (error) {
        throw explainCancellation(error)
      }
    },
    async updateItem(update) {
      const input = { ...encodeUpdate(update, name), ...RETURN_ITEM }
      try {
        const { Attributes } = await retryConflicts(() => send('UpdateItem', input), isContention, pause)
        return { isWritten: true, item: decodeItem(Attributes) }
      } catch (error) {
        if (error instanceof AwsServiceError && error.name === 'ConditionalCheckFailedException') {
          return { isWritten: false, item: error.Item === undefined ? undefined : decodeItem(error.Item) }
        }
        throw error
      }
    },
  }
}

/** The item as it is after an update, and as it was when its condition did not hold. */
const RETURN_ITEM = { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }

function encodeWrite(write: TableWrite, tableName: string): object {
  return Object.fromEntries(Object.entries(write).map(([kind, part]) => [kind, encodeUpdate(part, tableName)]))
}

type Encodable = Readonly<Record<'Key' | 'Item' | 'ExpressionAttributeValues', Item | undefined>>

function encodeUpdate({ Key, Item, ExpressionAttributeValues, ...rest }: Partial<Encodable>, TableName: string) {
  return { TableName, ...rest, ...encodeMembers({ Key, Item, ExpressionAttributeValues }) }
}

function encodeMembers(members: Readonly<Record<string, Item | undefined>>): object {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, item]) => (item === undefined ? [] : [[name, encodeItem(item)]])),
  )
}
