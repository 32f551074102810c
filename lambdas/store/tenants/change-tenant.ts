import {
  type Budget,
  type BudgetLimit,
  type BudgetPeriod,
  budgetAt,
  formatBudgetLimit,
  laterPeriodNear,
  movingPeriod,
  periodAt,
} from '#core/budgets.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import type { UserKeeping } from '#core/named-users.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { randomBase62 } from '../../platform/crypto.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { readTenantBudget } from '../budgets.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { allOf, beginningWith, change, isStill } from '../table/expressions.ts'
import { type Item, type ItemUpdate, queryItems, type Table, tryTransact } from '../table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from '../table/table-keys.ts'
import { beginningPeriod, readSnapshot, type Snapshot, spentInPeriod } from '../usage.ts'
import { noTenant, readBalance, readTenantName, type Tenant } from './tenants.ts'

const NAMES = ['budgetAmount', 'budgetPeriod', 'budgetPeriodId', 'budgetSpent', 'budgetLeft', 'budgetFree'] as const

/** The budget is still the one that was read. */
function isAsRead(stored: Budget | undefined): { readonly condition: string; readonly values: Item } {
  return stored === undefined
    ? { condition: 'attribute_exists(PK) AND attribute_not_exists(budgetPeriodId)', values: {} }
    : {
        condition: 'budgetAmount = :wasAmount AND budgetPeriod = :wasKind',
        values: { ':wasAmount': stored.amount, ':wasKind': stored.period.kind },
      }
}

/** Ends a budget that is still the one that was read. The balance stays in the index, where a low balance may be watched. */
export function clearBudget(tenantId: string, stored: Budget): ItemUpdate {
  const { condition, values } = isAsRead(stored)
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: `REMOVE ${NAMES.join(', ')}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: values,
  }
}

/** Changes the amount of a budget that is still the one that was read. That is right whatever moves at the same time. */
export function changeBudgetAmount(
  tenantId: string,
  { stored, amount }: { readonly stored: Budget; readonly amount: Microcredits },
): ItemUpdate {
  const { condition, values } = isAsRead(stored)
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET budgetAmount = :amount, budgetLeft = budgetLeft + :more, budgetFree = budgetFree + :more',
    ConditionExpression: condition,
    ExpressionAttributeValues: { ...values, ':amount': amount, ':more': amount - stored.amount },
  }
}

/** A budget that begins in the middle of a period. */
type Beginning = {
  readonly limit: BudgetLimit
  readonly period: BudgetPeriod
  readonly snapshot: Snapshot<Item>
  readonly stored: Budget | undefined
  /** Refused if anything was settled since: others may already be in another period, or still in the last one. */
  readonly isAtBoundary?: boolean
}

/**
 * Begins a budget in the middle of a period. What the tenant had spent before the period is known from the snapshot and does not change,
 * so the budget follows from the balance at the moment of the write, whatever is reserved and settled until then. Since available + held +
 * spent = granted, what is left is available plus an amount that only a grant would change.
 */
export function beginBudget(
  tenantId: string,
  { limit, period, snapshot, stored, isAtBoundary }: Beginning,
): ItemUpdate {
  const { spent: everSpent, granted } = readBalance(snapshot.read).balance
  const before = everSpent - snapshot.sum
  const { condition, values } = isAsRead(stored)
  const isInSamePeriod = 'budgetPeriodId = :wasPeriod'
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: `SET ${[
      'budgetAmount = :amount',
      'budgetPeriod = :kind',
      'budgetPeriodId = :period',
      'budgetSpent = spent - :before',
      'budgetLeft = available + :beyond',
      'budgetFree = :amount - held',
      'GSI1PK = :budgets',
      'GSI1SK = :tenant',
    ].join(', ')}`,
    ConditionExpression: [
      'granted = :granted',
      condition,
      ...(stored === undefined ? [] : [isInSamePeriod]),
      ...(isAtBoundary ? ['spent = :spent'] : []),
    ].join(' AND '),
    ExpressionAttributeValues: {
      ...values,
      ...(isAtBoundary ? { ':spent': everSpent } : {}),
      ...(stored === undefined ? {} : { ':wasPeriod': stored.period.id }),
      ':amount': limit.amount,
      ':kind': limit.kind,
      ':period': period.id,
      ':before': before,
      ':beyond': limit.amount + before - granted,
      ':granted': granted,
      ':budgets': BUDGETS_PARTITION,
      ':tenant': tenantId,
    },
  }
}

/** A change of the budget of a tenant: the write of the balance. */
export type PlannedTenantBudget = {
  readonly update: ItemUpdate
  /** False if the tenant settled requests all the time: `spent` may then be a little too high. */
  readonly isExact: boolean
  /** Undefined if the change does not depend on a period. */
  readonly period: BudgetPeriod | undefined
  /** What a budget that keeps its limit had spent before it was counted again, and has spent now. */
  readonly recount?: { readonly before: Microcredits; readonly after: Microcredits } | undefined
}

type Wanted = {
  readonly tenantId: string
  readonly stored: Budget | undefined
  readonly limit: BudgetLimit | null
  readonly now: number
}

/**
 * Plans that a tenant gets this budget, or none. Undefined if nothing has to be changed.
 * @throws StoreRefusal `not_found`.
 */
export async function planTenantBudget(table: Table, wanted: Wanted): Promise<PlannedTenantBudget | undefined> {
  const { tenantId, stored, limit, now } = wanted
  if (limit === null) {
    return stored && { update: clearBudget(tenantId, stored), isExact: true, period: undefined }
  }
  if (stored !== undefined && stored.period.kind === limit.kind && stored.amount !== limit.amount) {
    return { update: changeBudgetAmount(tenantId, { stored, amount: limit.amount }), isExact: true, period: undefined }
  }
  const isSameKind = stored?.period.kind === limit.kind
  const current = stored !== undefined && isSameKind ? movingPeriod(stored.period, now) : periodAt(limit.kind, now)
  const isAtBoundary = laterPeriodNear(limit.kind, now) !== undefined
  const {
    read: { balance, period },
    ...counting
  } = await readSnapshot({
    // The balance first: the write proves its sum, so that no settlement of another period can come after.
    read: async () => ({
      balance: await requireBalance(table, tenantId),
      period: await beginningPeriod(table, tenantId, { current, now }),
    }),
    count: ({ period }) => spentInPeriod(table, tenantId, { period }),
    sameAt: (before, after) => before.balance.spent === after.balance.spent && before.period.id === after.period.id,
  })
  const snapshot = { ...counting, read: balance }
  const counted = beginBudget(tenantId, { limit, period, snapshot, stored, isAtBoundary })
  const isRight = stored !== undefined && isSameKind && (!snapshot.isExact || counts(snapshot, budgetAt(stored, now)))
  const recount = isSameKind ? { before: budgetAt(stored, now).spent, after: snapshot.sum } : undefined
  return isRight ? undefined : { update: counted, isExact: snapshot.isExact, period, recount }
}

/** Whether a budget is what a new one with its limit would be. */
function counts({ read, sum: spent }: Snapshot<Item>, budget: Budget): boolean {
  const { held } = readBalance(read).balance
  const [left, free] = [budget.amount - spent - held, budget.amount - held]
  return budget.spent === spent && budget.left === left && budget.free === free
}

async function requireBalance(table: Table, tenantId: string): Promise<Item> {
  const balance = await table.readItem(tableKeys.balance(tenantId))
  if (balance === undefined) {
    throw noTenant(tenantId)
  }
  return balance
}

/** What can be changed of a tenant. A field that is left out stays as it is; null removes a limit. */
type TenantSettings = {
  readonly name?: string | undefined
  readonly openJobsMax?: number | null | undefined
  readonly budget?: BudgetLimit | null | undefined
  readonly users?: UserKeeping | undefined
}

type TenantChange = {
  readonly tenantId: string
  readonly settings: TenantSettings
  readonly actor: Actor
  readonly clock?: Pick<Clock, 'nowMilliseconds'>
}

/** The result of a change. `isExact` is false if the tenant settled requests all the time: `spent` may then be a little too high. */
export type ChangedTenant = { readonly isChanged: boolean; readonly isExact: boolean }

/** Reads and writes while grants move the balance, other commands change the tenant, or a period ends. */
const TRIES_MAX = 8

/** Recounts while the tenant's money keeps moving. After the last one, another change to the limit counts again. */
const RECOUNTS_MAX = 5

/**
 * Changes the name, the limit of open jobs, the budget and the counting of users of a tenant, from its next request on, in one transaction with one entry of the
 * audit log. Open jobs stay, even above a new limit. Setting a limit, also the same one, counts the open jobs again, and setting a budget
 * counts it again, from the usage counters of its period, because a restore or an edit by hand may have left wrong counts.
 * @throws StoreRefusal `not_found`. @throws StoreRefusal `changed_meanwhile` if others keep changing the tenant.
 */
export async function changeTenant(table: Table, change: TenantChange): Promise<ChangedTenant> {
  const { tenantId, clock = systemClock } = change
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const now = clock.nowMilliseconds()
    const planned = await planChange(table, change, now)
    if (planned !== undefined) {
      const audit = auditOf(change, planned, now)
      const refusal = await tryTransact(table, { balance: balanceWrite(planned), tenant: planned.name, audit })
      if (refusal !== undefined) {
        continue
      }
    }
    if (change.settings.openJobsMax !== undefined) {
      await recountOpenJobs(table, tenantId)
    }
    // What was settled since the period ended counts in a period that this transaction did not know of.
    const period = planned?.budget?.period
    if (period === undefined || movingPeriod(period, clock.nowMilliseconds()).id === period.id) {
      return { isChanged: planned !== undefined, isExact: planned?.budget?.isExact ?? true }
    }
  }
  throw new StoreRefusal('changed_meanwhile', `tenant ${tenantId} is being changed by others: try again`)
}

type Planned = {
  readonly name: { readonly Update: ItemUpdate } | undefined
  readonly users: ItemUpdate | undefined
  readonly limit: ItemUpdate | undefined
  readonly budget: PlannedTenantBudget | undefined
  readonly before: AuditedFields
  readonly after: AuditedFields
}

/** Undefined if nothing has to be changed. */
async function planChange(
  table: Table,
  { tenantId, settings }: TenantChange,
  now: number,
): Promise<Planned | undefined> {
  const { name, openJobsMax, budget, users } = settings
  const balance = await table.readItem(tableKeys.balance(tenantId))
  const tenant = name === undefined ? undefined : await readTenantName(table, tenantId)
  if (balance === undefined || (name !== undefined && tenant === undefined)) {
    throw noTenant(tenantId)
  }
  const wasName = tenant?.name
  const wasLimit = readBalance(balance).openJobs.max
  const hasName = name !== undefined && wasName !== undefined && name !== wasName
  const wasUsers = readBalance(balance).users
  const hasUsers = users !== undefined && users !== (wasUsers ?? 'off')
  const hasLimit = openJobsMax !== undefined && openJobsMax !== wasLimit
  const stored = readTenantBudget(balance)
  const planned =
    budget === undefined ? undefined : await planTenantBudget(table, { tenantId, stored, limit: budget, now })
  if (!hasName && !hasUsers && !hasLimit && planned === undefined) {
    return undefined
  }
  const wasBudget = stored && { amount: stored.amount, kind: stored.period.kind }
  return {
    name: hasName ? { Update: nameUpdate(tenantId, wasName, name) } : undefined,
    users: hasUsers ? usersUpdate(tenantId, wasUsers, users) : undefined,
    limit: hasLimit ? openJobLimitUpdate(tenantId, { was: wasLimit, limit: openJobsMax }) : undefined,
    budget: planned,
    before: {
      ...(hasName ? { name: wasName } : {}),
      ...(hasUsers ? { users: wasUsers ?? 'off' } : {}),
      ...(hasLimit ? { openJobs: wasLimit } : {}),
      ...(planned === undefined ? {} : { budget: shown(wasBudget) }),
      ...(planned?.recount && { spent: formatCredits(planned.recount.before) }),
    },
    after: {
      ...(hasName ? { name } : {}),
      ...(hasUsers ? { users } : {}),
      ...(hasLimit ? { openJobs: openJobsMax } : {}),
      ...(planned === undefined ? {} : { budget: shown(budget ?? undefined) }),
      ...(planned?.recount && { spent: formatCredits(planned.recount.after) }),
    },
  }
}

function shown(limit: BudgetLimit | undefined): string | null {
  return limit === undefined ? null : formatBudgetLimit(limit)
}

function nameUpdate(tenantId: string, was: string, name: string): ItemUpdate {
  return change(tableKeys.tenant(tenantId), { set: { name } }, [isStill('name', was)])
}

/** The salt of digests is made once, so that a user has the same digest after the counting was off. */
function usersUpdate(tenantId: string, was: Tenant['users'], users: UserKeeping): ItemUpdate {
  const isCounting = users !== 'off'
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: isCounting
      ? 'SET userKeeping = :keeping, userSalt = if_not_exists(userSalt, :salt)'
      : 'REMOVE userKeeping',
    ...allOf(
      ['attribute_exists(PK)', isStill('userKeeping', was)],
      isCounting ? { ':keeping': users, ':salt': randomBase62(SALT_CHARACTERS) } : {},
    ),
  }
}

const SALT_CHARACTERS = 22

/** One write of the balance, because a transaction writes an item once. */
function balanceWrite({ users, limit, budget }: Planned): { readonly Update: ItemUpdate } | undefined {
  const [first, ...others] = [users, limit, budget?.update].flatMap((update) => update ?? [])
  if (first === undefined) {
    return undefined
  }
  return { Update: others.length === 0 ? first : joined([first, ...others]) }
}

/** Each of the updates, of one item, has one clause. */
function joined(parts: readonly [ItemUpdate, ...ItemUpdate[]]): ItemUpdate {
  const clause = (word: string) => {
    const texts = parts.flatMap(({ UpdateExpression: text }) =>
      text.startsWith(word) ? [text.slice(word.length)] : [],
    )
    return texts.length === 0 ? [] : [`${word}${texts.join(', ')}`]
  }
  return {
    Key: parts[0].Key,
    UpdateExpression: [...clause('SET '), ...clause('REMOVE ')].join(' '),
    ...allOf(
      parts.map(({ ConditionExpression: condition }) => `(${condition})`),
      Object.assign({}, ...parts.map(({ ExpressionAttributeValues: values }) => values)),
    ),
  }
}

function auditOf({ tenantId, actor }: TenantChange, { before, after }: Planned, at: number) {
  return auditEntry({ actor, action: 'tenant set', target: { kind: 'tenant', id: tenantId }, before, after, at })
}

/** Changes the limit of a balance that has the limit that was read. The two limits differ. */
function openJobLimitUpdate(
  tenantId: string,
  { was, limit }: { readonly was: number | null; readonly limit: number | null },
): ItemUpdate {
  return {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: limit === null ? 'REMOVE openJobsMax' : 'SET openJobsMax = :limit',
    ...allOf(
      ['attribute_exists(PK)', isStill('openJobsMax', was ?? undefined)],
      limit === null ? {} : { ':limit': limit },
    ),
  }
}

/** Counts the open jobs of a tenant again. */
async function recountOpenJobs(table: Table, tenantId: string): Promise<void> {
  for (let recount = 0; recount < RECOUNTS_MAX; recount += 1) {
    if (await isRecounted(table, tenantId)) {
      return
    }
  }
}

/** @returns whether the count is right now. */
async function isRecounted(table: Table, tenantId: string): Promise<boolean> {
  const { openJobs, available, held, spent } = { ...(await table.readItem(tableKeys.balance(tenantId))) }
  const counted = await countReservations(table, tenantId)
  if (openJobs === counted) {
    return true
  }
  // Every transaction that opens or ends a job also moves the money or the count.
  const nothingHasMoved = Object.entries({ openJobs, available, held, spent }).map(([name, read]) =>
    isStill(name, read),
  )
  const count = { set: { openJobs: counted } }
  return (await table.updateItem(change(tableKeys.balance(tenantId), count, nothingHasMoved))).isWritten
}

async function countReservations(table: Table, tenantId: string): Promise<number> {
  const reservations = beginningWith(tableKeys.reservation(tenantId, ''))
  const open = queryItems(table, {
    ...reservations,
    FilterExpression: '#state = :held',
    ProjectionExpression: 'SK',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ...reservations.ExpressionAttributeValues, ':held': 'held' },
  })
  return (await Array.fromAsync(open)).length
}
