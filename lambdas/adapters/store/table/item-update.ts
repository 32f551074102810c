import type { TableKey } from './table-keys.ts'

/** A change of one item that counts only where its condition holds. */
export type ItemUpdate = {
  readonly Key: TableKey
  readonly UpdateExpression: string
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Record<string, unknown>
}

/** The item as it is now, or as it was when it refused; undefined where there is none. */
type UpdateOutcome = {
  readonly isWritten: boolean
  readonly item: Readonly<Record<string, unknown>> | undefined
}

/** A table that updates single items: the relay's own client and the SDK's alike. */
export interface UpdatableTable {
  /**
   * Updates an item if its condition holds. A try whose answer was lost is made again, so that the update may count twice:
   * for values where that does no harm.
   * @throws ServiceUnavailableError when the table stays out of reach.
   */
  updateItem(update: ItemUpdate): Promise<UpdateOutcome>
}
