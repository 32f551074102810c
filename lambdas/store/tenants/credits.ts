import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod/mini'
import { formatCredits, type Microcredits, microcredits, ZERO } from '#core/money.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { storedAmount } from '../table/attributes.ts'
import { type ConditionsNotMetError, type Table, type TableWrite, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getTenant, noTenant, type Tenant } from './tenants.ts'

/** The rows of the ledger that change what was given to a tenant: `available` and `granted` move alike. */
const KINDS = {
  grant: {
    name: 'grant',
    action: 'tenant grant',
    keyOf: (tenantId: string, id: string) => tableKeys.ledgerGrant(tenantId, id),
  },
  adjust: {
    name: 'adjustment',
    action: 'tenant adjust',
    keyOf: (tenantId: string, id: string) => tableKeys.ledgerAdjustment(tenantId, id),
  },
} as const

type CreditEntry = {
  readonly kind: keyof typeof KINDS
  /** Names the ledger row. */
  readonly id: string
  /** Negative to take credits away. */
  readonly amount: Microcredits
  /** For people: in the ledger and the audit log. */
  readonly reason?: string | undefined
  readonly at: number
}

/** The tenant afterwards, and whether the change is new: a repeated one changes nothing. */
type Posted = { readonly tenant: Tenant; readonly isNew: boolean }

type Grant = { readonly credits: Microcredits; readonly reason?: string | undefined; readonly actor: Actor }

/**
 * Grants credits, once for each id of a grant.
 * @param grant.id names the ledger row; a new id when left out.
 * @throws StoreRefusal `not_found`, `id_taken`.
 */
export async function grantTenant(
  table: Table,
  tenantId: string,
  { id = uuidv7(), credits: amount, reason, actor }: Grant & { readonly id?: string | undefined },
): Promise<Posted> {
  const entry = { kind: 'grant', id, amount, reason, at: Date.now() } as const
  return await postEntry(table, tenantId, entry, { actor, isDebtAllowed: false })
}

type Adjustment = {
  /** Names the ledger row; a new id when left out. */
  readonly id?: string | undefined
  /** Negative to take credits away; not zero. */
  readonly amount: Microcredits
  readonly reason: string
  /** Whether the available balance may fall below zero. */
  readonly isDebtAllowed: boolean
  readonly actor: Actor
}

/**
 * Corrects what was granted to a tenant, once for each id of an adjustment.
 * @throws StoreRefusal `not_found`, `id_taken`, `below_zero`.
 */
export async function adjustTenant(
  table: Table,
  tenantId: string,
  { id = uuidv7(), amount, reason, isDebtAllowed, actor }: Adjustment,
): Promise<Posted> {
  const entry = { kind: 'adjust', id, amount, reason, at: Date.now() } as const
  return await postEntry(table, tenantId, entry, { actor, isDebtAllowed })
}

/** Writes ledger row, balance and the entry of the audit log in one transaction. */
async function postEntry(
  table: Table,
  tenantId: string,
  entry: CreditEntry,
  { actor, isDebtAllowed }: Pick<Adjustment, 'actor' | 'isDebtAllowed'>,
): Promise<Posted> {
  const { kind, id, amount, reason, at } = entry
  const isChecked = amount < ZERO && !isDebtAllowed
  const refusal = await tryTransact(table, {
    balance: {
      Update: {
        Key: tableKeys.balance(tenantId),
        UpdateExpression: 'SET available = available + :amount, granted = granted + :amount',
        ConditionExpression: isChecked ? 'available >= :taken' : 'attribute_exists(PK)',
        ExpressionAttributeValues: { ':amount': amount, ...(isChecked ? { ':taken': -amount } : {}) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    row: putCreditEntry(tenantId, entry),
    audit: auditEntry({
      actor,
      action: KINDS[kind].action,
      target: { kind: 'tenant', id: tenantId },
      before: null,
      after: { amount: formatCredits(amount), reference: id, ...(reason === undefined ? {} : { reason }) },
      at,
    }),
  })
  if (refusal !== undefined) {
    await explain(table, tenantId, entry, refusal)
  }
  return { tenant: await getTenant(table, tenantId), isNew: refusal === undefined }
}

/** The write of the ledger row, which is refused if the id was used before. */
export function putCreditEntry(tenantId: string, { kind, id, amount, reason, at }: CreditEntry): TableWrite {
  return {
    Put: {
      ConditionExpression: 'attribute_not_exists(PK)',
      Item: { ...KINDS[kind].keyOf(tenantId, id), kind, amount, reason, at },
    },
  }
}

/** The amount of a grant or an adjustment; undefined without one of this id. */
export async function readCreditEntry(
  table: Pick<Table, 'readItem'>,
  tenantId: string,
  { kind, id }: Pick<CreditEntry, 'kind' | 'id'>,
): Promise<Microcredits | undefined> {
  const item = await table.readItem(KINDS[kind].keyOf(tenantId, id))
  return item === undefined ? undefined : rowItem.parse(item).amount
}

const rowItem = z.object({ amount: storedAmount })
const balanceItem = z.object({ available: storedAmount })

/** Returns if the same change was made before. A repeat may meet a balance that could not pay for it again, so the row is judged first. */
async function explain(
  table: Table,
  tenantId: string,
  { kind, id, amount }: CreditEntry,
  refusal: ConditionsNotMetError,
): Promise<void> {
  const { name } = KINDS[kind]
  if (refusal.failed.has('row')) {
    const made = await readCreditEntry(table, tenantId, { kind, id })
    if (made !== undefined && made !== amount) {
      const message = `${name} ${id} of tenant ${tenantId} was made with ${formatCredits(made)} credits`
      throw new StoreRefusal('id_taken', `${message}: use another id for another amount`)
    }
    return
  }
  const balance = refusal.oldItems.get('balance')
  if (balance === undefined) {
    throw noTenant(tenantId, { cause: refusal })
  }
  const { available } = balanceItem.parse(balance)
  const left = formatCredits(microcredits(available + amount))
  const message = `tenant ${tenantId} has ${formatCredits(available)} credits available: ${formatCredits(amount)} would leave ${left}`
  throw new StoreRefusal('below_zero', message, { cause: refusal })
}
