import * as z from 'zod/mini'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { change, isStill } from '../table/expressions.ts'
import { type ItemUpdate, type Table, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { noTenant } from './tenants.ts'

/** The secrets that a tenant's callbacks are signed with. */
export type WebhookSecrets = {
  readonly current: string
  /** The secret before this one, while callbacks are signed with both; `until` in Unix milliseconds. */
  readonly previous: { readonly secret: string; readonly until: number } | undefined
}

const secretsItem = z.object({
  webhookSecret: z.string(),
  previousWebhookSecret: z.optional(z.string()),
  previousWebhookSecretUntil: z.optional(z.number()),
})

/**
 * The secrets of a tenant that are valid at a time, by one read. `mayLag` suits a callback, which may be signed as it would have
 * been a moment before.
 * @throws StoreRefusal `not_found`
 */
export async function readWebhookSecrets(
  table: Table,
  tenantId: string,
  { nowMilliseconds, mayLag = false }: { nowMilliseconds: number; mayLag?: boolean },
): Promise<WebhookSecrets> {
  const item = await table.readItem(tableKeys.tenant(tenantId), { mayLag })
  if (item === undefined) {
    throw noTenant(tenantId)
  }
  const { webhookSecret: current, previousWebhookSecret: secret, previousWebhookSecretUntil } = secretsItem.parse(item)
  const until = previousWebhookSecretUntil ?? 0
  return { current, previous: secret === undefined || until <= nowMilliseconds ? undefined : { secret, until } }
}

type Rotation = {
  /** The secret that is replaced, as it was read: any other in its place comes from another rotation. */
  readonly replaces: string
  readonly secret: string
  /** Until when the replaced secret signs too, in Unix milliseconds; undefined to end it at once. */
  readonly previousUntil: number | undefined
  readonly actor: Actor
}

/**
 * Replaces a tenant's secret, in one transaction with the entry of the audit log, which has neither secret. There are two at most, so a
 * still older one ends. Repeating a rotation changes nothing.
 * @throws StoreRefusal `changed_meanwhile`
 */
export async function rotateWebhookSecret(table: Table, tenantId: string, rotation: Rotation): Promise<void> {
  const { secret, previousUntil, actor } = rotation
  const audit = auditEntry({
    actor,
    action: 'callback-secret rotate',
    target: { kind: 'tenant', id: tenantId },
    before: null,
    after: { until: previousUntil === undefined ? null : new Date(previousUntil).toISOString() },
    at: Date.now(),
  })
  if ((await tryTransact(table, { tenant: { Update: replaceSecret(tenantId, rotation) }, audit })) !== undefined) {
    // A write whose response was lost may be sent again by the command, and is then refused by its own first try.
    const { current } = await readWebhookSecrets(table, tenantId, { nowMilliseconds: 0 })
    if (current !== secret) {
      throw new StoreRefusal('changed_meanwhile', 'somebody else rotated the callback secret at the same time')
    }
  }
}

function replaceSecret(tenantId: string, { replaces, secret, previousUntil }: Rotation): ItemUpdate {
  const replaced =
    previousUntil === undefined
      ? { set: { webhookSecret: secret }, remove: ['previousWebhookSecret', 'previousWebhookSecretUntil'] }
      : {
          set: {
            webhookSecret: secret,
            previousWebhookSecret: replaces,
            previousWebhookSecretUntil: previousUntil,
          },
        }
  return change(tableKeys.tenant(tenantId), replaced, [isStill('webhookSecret', replaces)])
}
