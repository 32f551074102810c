import { type TableKey, tableKeys } from '../table/table-keys.ts'

/** What a transaction that locks funds checks beside it, so that a key revoked, suspended or expired meanwhile cannot spend. */
export type ActiveKeyCheck = {
  readonly Key: TableKey
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Record<string, unknown>
}

/** The key exists, is active, its tenant is not suspended, and it ends later than `nowSeconds` or never. */
export function activeKeyCheck(keyDigest: string, nowSeconds: number): ActiveKeyCheck {
  const keyIsActive = '#state = :active'
  const tenantIsNotSuspended = 'attribute_not_exists(suspended)'
  const keyHasNotExpired = '(attribute_not_exists(expiresAt) OR expiresAt > :now)'
  return {
    Key: tableKeys.apiKey(keyDigest),
    ConditionExpression: [keyIsActive, tenantIsNotSuspended, keyHasNotExpired].join(' AND '),
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':active': 'active', ':now': nowSeconds },
  }
}
