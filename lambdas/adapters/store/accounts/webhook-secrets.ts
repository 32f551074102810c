import * as z from 'zod/mini'
import { conditionalUpdate } from '../table/conditional-update.ts'
import { readItem } from '../table/read-item.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { TenantNotFoundError } from './tenant-store.ts'

/** What a tenant's callbacks are signed with. */
export type WebhookSecrets = {
  readonly current: string
  /** The one before, while callbacks are signed with both: until a time in Unix milliseconds. */
  readonly previous: { readonly secret: string; readonly until: number } | undefined
}

/** Somebody else rotated the secret since it was read; nothing was written. */
export class WebhookSecretChangedError extends Error {
  override readonly name = 'WebhookSecretChangedError'
}

const secretsItem = z.object({
  webhookSecret: z.string(),
  previousWebhookSecret: z.optional(z.string()),
  previousWebhookSecretUntil: z.optional(z.number()),
})

/**
 * The secrets of a tenant that are valid at a time, by one read; `mayLag` for a callback, where a moment's delay means that
 * it is signed as one of the moment before.
 * @throws TenantNotFoundError
 */
export async function readWebhookSecrets(
  table: Table,
  tenantId: string,
  { nowMilliseconds, mayLag = false }: { nowMilliseconds: number; mayLag?: boolean },
): Promise<WebhookSecrets> {
  const item = await readItem(table, tableKeys.tenant(tenantId), { mayLag })
  if (item === undefined) {
    throw new TenantNotFoundError(`no tenant ${tenantId}`)
  }
  const { webhookSecret: current, previousWebhookSecret: secret, previousWebhookSecretUntil } = secretsItem.parse(item)
  const until = previousWebhookSecretUntil ?? 0
  return { current, previous: secret === undefined || until <= nowMilliseconds ? undefined : { secret, until } }
}

type Rotation = {
  /** The secret that is replaced, as it was read: another one in its place was somebody else's rotation. */
  readonly replaces: string
  readonly secret: string
  /** Until when the replaced one signs too, in Unix milliseconds; undefined when it ends at once and is not kept. */
  readonly previousUntil: number | undefined
}

/**
 * Replaces a tenant's secret. A still older one ends here: there are two at most. Repeating it is one rotation.
 * @throws WebhookSecretChangedError
 */
export async function rotateWebhookSecret(
  table: Table,
  tenantId: string,
  { replaces, secret, previousUntil }: Rotation,
): Promise<void> {
  const written = await conditionalUpdate(table, {
    Key: tableKeys.tenant(tenantId),
    UpdateExpression:
      previousUntil === undefined
        ? 'SET webhookSecret = :secret REMOVE previousWebhookSecret, previousWebhookSecretUntil'
        : 'SET webhookSecret = :secret, previousWebhookSecret = :replaces, previousWebhookSecretUntil = :until',
    ConditionExpression: 'webhookSecret = :replaces',
    ExpressionAttributeValues: {
      ':secret': secret,
      ':replaces': replaces,
      ...(previousUntil === undefined ? {} : { ':until': previousUntil }),
    },
  })
  if (written !== undefined) {
    return
  }
  // A write whose answer was lost is sent again and then meets itself.
  const { current } = await readWebhookSecrets(table, tenantId, { nowMilliseconds: 0 })
  if (current !== secret) {
    throw new WebhookSecretChangedError('somebody else rotated the callback secret at the same time')
  }
}
