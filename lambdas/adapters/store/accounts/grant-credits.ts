import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod/mini'
import { formatCredits, type Microcredits, microcredits } from '#core/money.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getTenant, type Tenant } from './tenant-store.ts'

/** The tenant after a grant, and whether the grant is new: a repeated one adds nothing. */
type Granted = { readonly tenant: Tenant; readonly isNew: boolean }

/**
 * Grants credits, once for each id of a grant.
 * @param grant.id names the ledger row; a new id when left out.
 * @throws StoreRefusal `not_found`, `id_taken`.
 */
export async function grantTenant(
  table: Table,
  tenantId: string,
  { id = uuidv7(), ...grant }: Pick<Grant, 'credits' | 'reason'> & { id?: string | undefined; actor: Actor },
): Promise<Granted> {
  const isNew = await grantCredits(table, tenantId, { grantId: id, ...grant, nowMilliseconds: Date.now() })
  return { tenant: await getTenant(table, tenantId), isNew }
}

type Grant = {
  readonly grantId: string
  readonly credits: Microcredits
  readonly nowMilliseconds: number
  /** For people: in the ledger and the audit log. */
  readonly reason?: string | undefined
}

/**
 * Adds credits to a tenant: ledger row, balance and the entry of the audit log in one transaction. Repeating a grant with its id adds
 * nothing.
 * @returns false when this grant was made before.
 * @throws StoreRefusal `not_found` when there is no such tenant; StoreRefusal `id_taken` when the id was used for another amount.
 */
export async function grantCredits(
  table: Table,
  tenantId: string,
  { actor, ...grant }: Grant & { readonly actor: Actor },
): Promise<boolean> {
  const { grantId, credits, nowMilliseconds, reason } = grant
  const raise = {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET available = available + :credits, granted = granted + :credits',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':credits': credits },
  }
  const audit = auditEntry({
    actor,
    action: 'tenant grant',
    target: { kind: 'tenant', id: tenantId },
    before: null,
    after: { amount: formatCredits(credits), reference: grantId, ...(reason === undefined ? {} : { reason }) },
    at: nowMilliseconds,
  })
  try {
    await table.transact({ balance: { Update: raise }, grant: putGrant(tenantId, grant), audit })
    return true
  } catch (error) {
    if (!(error instanceof ConditionsNotMetError)) {
      throw error
    }
    if (error.failed.has('balance')) {
      throw new StoreRefusal('not_found', `no tenant ${tenantId}`, { cause: error })
    }
    await requireSameGrant(table, tenantId, grant)
    return false
  }
}

const grantItem = z.object({ amount: z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits)) })

async function requireSameGrant(table: Table, tenantId: string, { grantId, credits }: Grant): Promise<void> {
  const { amount } = grantItem.parse(await table.readItem(tableKeys.ledgerGrant(tenantId, grantId)))
  if (amount !== credits) {
    const made = `grant ${grantId} of tenant ${tenantId} was made with ${formatCredits(amount)} credits`
    throw new StoreRefusal('id_taken', `${made}: use another id for another amount`)
  }
}

/** The write of a grant's ledger row, which is refused if the id was used before. */
export function putGrant(tenantId: string, { grantId, credits, nowMilliseconds, reason }: Grant): TableWrite {
  const row = {
    ...tableKeys.ledgerGrant(tenantId, grantId),
    kind: 'grant',
    amount: credits,
    reason,
    at: nowMilliseconds,
  }
  return { Put: { ConditionExpression: 'attribute_not_exists(PK)', Item: row } }
}
