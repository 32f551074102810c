import type { ConditionCheck } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/**
 * What a transaction that locks funds checks too, so that a key that is revoked, suspended or expired by then cannot spend: the
 * key exists and is active, its tenant is not suspended, and it expires after `nowSeconds` or never.
 */
export function activeKeyCheck(keyDigest: string, nowSeconds: number): ConditionCheck {
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
