import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod/mini'
import { formatCredits, type Microcredits, microcredits, ZERO } from '#core/money.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import {
  ConditionsNotMetError,
  type ItemUpdate,
  type NamedWrites,
  type Table,
  type TableWrite,
} from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getTenant, type Tenant } from './tenants.ts'

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

type Adjustment = {
  /** Names the ledger row; a new id when left out. */
  readonly id?: string | undefined
  /** Negative to take credits away; not zero. */
  readonly amount: Microcredits
  /** For people: in the ledger and the audit log. */
  readonly reason: string
  /** Whether the available balance may fall below zero. */
  readonly isDebtAllowed: boolean
  readonly actor: Actor
}

/** The tenant after an adjustment, and whether the adjustment is new: a repeated one changes nothing. */
type Adjusted = { readonly tenant: Tenant; readonly isNew: boolean }

/**
 * Corrects what was granted to a tenant, once for each id of an adjustment: `available` and `granted` move alike, in one transaction with
 * the ledger row and the entry of the audit log.
 * @throws StoreRefusal `not_found`, `id_taken`, `below_zero`.
 */
export async function adjustTenant(
  table: Table,
  tenantId: string,
  { id = uuidv7(), ...adjustment }: Adjustment,
): Promise<Adjusted> {
  const named = { ...adjustment, id }
  try {
    await table.transact(adjustmentWrites(tenantId, named, Date.now()))
    return { tenant: await getTenant(table, tenantId), isNew: true }
  } catch (error) {
    if (!(error instanceof ConditionsNotMetError)) {
      throw error
    }
    // A repeat may meet a balance that could not pay for it again, so the row is judged first.
    if (error.failed.has('row')) {
      await requireSame(table, tenantId, named)
      return { tenant: await getTenant(table, tenantId), isNew: false }
    }
    throw explainBalance(tenantId, named, error)
  }
}

type NamedAdjustment = Adjustment & { readonly id: string }

function adjustmentWrites(tenantId: string, adjustment: NamedAdjustment, at: number): NamedWrites {
  const { id, amount, reason, actor } = adjustment
  const row = { ...tableKeys.ledgerAdjustment(tenantId, id), kind: 'adjust', amount, reason, at }
  return {
    balance: { Update: { ...moveBalance(tenantId, adjustment), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
    row: { Put: { Item: row, ConditionExpression: 'attribute_not_exists(PK)' } },
    audit: auditEntry({
      actor,
      action: 'tenant adjust',
      target: { kind: 'tenant', id: tenantId },
      before: null,
      after: { amount: formatCredits(amount), reference: id, reason },
      at,
    }),
  }
}

function moveBalance(tenantId: string, { amount, isDebtAllowed }: NamedAdjustment): ItemUpdate {
  const isChecked = amount < ZERO && !isDebtAllowed
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET available = available + :amount, granted = granted + :amount',
    ConditionExpression: isChecked ? 'available >= :taken' : 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':amount': amount, ...(isChecked ? { ':taken': -amount } : {}) },
  }
}

const amountField = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))
const adjustmentItem = z.object({ amount: amountField })
const balanceItem = z.object({ available: amountField })

async function requireSame(table: Table, tenantId: string, { id, amount }: NamedAdjustment): Promise<void> {
  const stored = adjustmentItem.parse(await table.readItem(tableKeys.ledgerAdjustment(tenantId, id))).amount
  if (stored !== amount) {
    throw new StoreRefusal(
      'id_taken',
      `adjustment ${id} of tenant ${tenantId} was made with ${formatCredits(stored)} credits: use another id for another amount`,
    )
  }
}

function explainBalance(tenantId: string, { amount }: NamedAdjustment, error: ConditionsNotMetError): Error {
  const balance = error.oldItems.get('balance')
  if (balance === undefined) {
    return new StoreRefusal('not_found', `no tenant ${tenantId}`, { cause: error })
  }
  const { available } = balanceItem.parse(balance)
  const left = formatCredits(microcredits(available + amount))
  return new StoreRefusal(
    'below_zero',
    `tenant ${tenantId} has ${formatCredits(available)} credits available: ${formatCredits(amount)} would leave ${left}`,
    { cause: error },
  )
}
