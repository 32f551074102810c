import { randomUUID } from 'node:crypto'
import { type CallAws, callAwsService } from '../aws-json/call-aws-service.ts'
import type { Clock } from '../clock.ts'
import { environmentVariable } from '../environment.ts'
import { explainCancellation, isWorthAnotherTry } from '../stores/cancelled-transaction.ts'
import { isContention, retryConflicts } from '../stores/conflict-retry.ts'
import type { TableKey } from '../stores/table-keys.ts'
import { decodeItem, encodeItem, type Item } from './attribute-value.ts'
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
export function openLeanTable({ call = callAwsService, pause }: Network = {}): LeanTable {
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
  }
}

function encodeWrite(write: TableWrite, TableName: string): object {
  return Object.fromEntries(
    Object.entries(write).map(([kind, { Key, Item, ExpressionAttributeValues, ...rest }]) => [
      kind,
      { TableName, ...rest, ...encodeMembers({ Key, Item, ExpressionAttributeValues }) },
    ]),
  )
}

function encodeMembers(members: Readonly<Record<string, Item | undefined>>): object {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, item]) => (item === undefined ? [] : [[name, encodeItem(item)]])),
  )
}
