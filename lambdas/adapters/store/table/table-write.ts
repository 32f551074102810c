import type { TableKey } from './table-keys.ts'

type Condition = {
  readonly ConditionExpression?: string
  readonly ExpressionAttributeNames?: Record<string, string>
  readonly ExpressionAttributeValues?: Record<string, unknown>
  /** Asks for the item as it was where the condition did not hold. */
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
}

/** One part of a transaction, without the table's name: for the relay's own client and for the SDK's alike. */
export type TableWrite =
  | { readonly Put: Condition & { readonly Item: Record<string, unknown> } }
  | { readonly Update: Condition & { readonly Key: TableKey; readonly UpdateExpression: string } }
  | { readonly Delete: Condition & { readonly Key: TableKey } }
  | { readonly ConditionCheck: Condition & { readonly Key: TableKey; readonly ConditionExpression: string } }
