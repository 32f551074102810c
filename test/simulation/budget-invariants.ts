import type { Budget } from '#core/budgets.ts'
import { checkSpent, sharing, spentBy } from './budget-spending.ts'
import type { RelayedRequest } from './relayed-request.ts'
import { rule, sum } from './rule.ts'
import { amount, type Snapshot } from './snapshot.ts'

type Looks = { readonly before: Snapshot | undefined; readonly now: Snapshot }
type Known = { readonly requests: ReadonlyMap<string, RelayedRequest> }

/** One budget, of a key or a tenant, and what counts in it. */
type Limited = {
  readonly name: string
  readonly budget: Budget
  /** The same budget before the last write. */
  readonly was: Budget | undefined
  /** Billed by the settlements of the last write. */
  readonly billed: bigint
  /** Whether the last write locked an amount in it. */
  readonly isLocked: boolean
  /** Whether it was counted anew from what its keys have spent. */
  readonly isRecounted: boolean
}

/**
 * The rules of budgets, which hold after every write: the sums that conditions use are those of the amounts, every settlement counts
 * once and in the period that has begun, and no reservation passes a budget.
 */
export function checkBudgets(known: Known, { before, now }: Looks): string[] {
  const change = before === undefined ? NO_CHANGE : changeBetween(known, { before, now })
  const ofKeys = [...now.keyBudgets].map(([id, { budget }]) =>
    limited(`the budget ${id}`, {
      budget,
      was: before?.keyBudgets.get(id)?.budget,
      hasNewKeys: sharing(id, now).some((key) => before?.keys.get(key)?.budgetId !== id),
      settled: change.settled.filter((each) => each.budgetId === id),
      locked: change.locked.filter((each) => each.budgetId === id),
    }),
  )
  const ofTenants = [...now.tenantBudgets].map(([tenantId, budget]) =>
    limited(`the budget of ${tenantId}`, {
      budget,
      was: before?.tenantBudgets.get(tenantId),
      hasNewKeys: false,
      settled: change.settled.filter((each) => each.tenantId === tenantId),
      locked: change.locked.filter((each) => each.tenantId === tenantId),
    }),
  )
  return [
    ...[...ofKeys, ...ofTenants].flatMap((each) => [
      ...checkSums(each),
      ...(change.isByOperator ? checkChange(each) : checkMove(each)),
    ]),
    ...[...now.keyBudgets.keys()].flatMap((id, index) => checkRecount(ofKeys[index], id, now)),
    ...[...now.tenantBudgets].flatMap(([tenantId, budget]) => checkSpent(tenantId, budget, now)),
    ...[...now.keyBudgets].flatMap(([id, { budget }]) => checkHeld(id, budget, now)),
    ...now.holds.flatMap((hold) => checkNamed(hold, known)),
  ]
}

type Counted = { readonly tenantId: string; readonly budgetId: string | undefined; readonly amount: bigint }
type Change = {
  readonly settled: readonly Counted[]
  readonly locked: readonly Counted[]
  /** Whether an operator did something: budgets may have been set. */
  readonly isByOperator: boolean
}
const NO_CHANGE: Change = { settled: [], locked: [], isByOperator: true }

function changeBetween({ requests }: Known, { before, now }: { before: Snapshot; now: Snapshot }): Change {
  const budgetOf = (id: unknown) =>
    requests.get(String(id))?.reservation.budget?.id ?? now.reservations.get(String(id))?.budget?.id
  const settled = now.rows
    .filter(({ tenantId, item }) => item.kind === 'settle' && !before.ledger.has(`L#${tenantId}/${item.SK}`))
    .map(({ tenantId, item }) => ({ tenantId, budgetId: budgetOf(item.job), amount: amount(item.actual) }))
  const ofJobs = [...now.reservations.values()]
    .filter(({ jobId }) => !before.reservations.has(jobId))
    .map(({ tenantId, jobId, amount: held }) => ({ tenantId, budgetId: budgetOf(jobId), amount: held }))
  const isKnown = new Set(before.holds.flatMap(({ open }) => open.map(({ id }) => id)))
  const ofRequests = now.holds
    .filter((hold) => isGrown(hold, before))
    .flatMap(({ tenantId, open }) =>
      open
        .filter(({ id }) => !isKnown.has(id))
        .map(({ id, amount: held }) => ({ tenantId, budgetId: budgetOf(id), amount: held })),
    )
  return { settled, locked: [...ofJobs, ...ofRequests], isByOperator: now.audits !== before.audits }
}

/** A hold that named all its requests before names a new one only when that was reserved. */
function isGrown({ holdId }: Snapshot['holds'][number], before: Snapshot): boolean {
  const was = before.holds.find((hold) => hold.holdId === holdId)
  return was === undefined || was.requests === was.open.length
}

type Moved = Pick<Limited, 'budget' | 'was'> & Pick<Change, 'settled' | 'locked'> & { readonly hasNewKeys: boolean }

function limited(name: string, { budget, was, hasNewKeys, settled, locked }: Moved): Limited {
  return {
    name,
    budget,
    was,
    billed: sum(settled.map((each) => each.amount)),
    isLocked: locked.length > 0 || (was !== undefined && budget.held > was.held),
    isRecounted: was?.period.kind !== budget.period.kind || (hasNewKeys && budget.spent !== was.spent),
  }
}

function checkSums({ name, budget }: Limited): string[] {
  const { amount: limit, spent, held, left, free } = budget
  return [
    ...rule(
      left === limit - spent - held,
      `${name} has ${left} left of ${limit}, with ${spent} spent and ${held} held`,
    ),
    ...rule(free === limit - held, `${name} has ${free} free of ${limit}, with ${held} held`),
    ...rule(spent >= 0n && held >= 0n, `${name} has a negative amount`),
  ]
}

/** Another amount changes nothing else. */
function checkChange({ name, budget, was, isRecounted }: Limited): string[] {
  const isSame = was === undefined || isRecounted || was.period.id !== budget.period.id || was.amount === budget.amount
  return isSame
    ? []
    : rule(budget.spent === was.spent && budget.held === was.held, `${name} got another amount, and lost what it knew`)
}

/** A budget of a key that is counted anew has at most what its keys have spent in the period. */
function checkRecount(limited: Limited | undefined, id: string, now: Snapshot): string[] {
  if (limited === undefined || !limited.isRecounted) {
    return []
  }
  const { name, budget } = limited
  const most = spentBy(id, budget, now)
  return rule(budget.spent <= most, `${name} begins with ${budget.spent}, and its keys spent ${most}`)
}

/** What a write that is no command did to a budget. */
function checkMove({ name, budget, was, billed, isLocked }: Limited): string[] {
  if (was === undefined) {
    return []
  }
  const isSamePeriod = budget.period.id === was.period.id
  const spent = isSamePeriod ? was.spent + billed : billed
  return [
    ...rule(budget.amount === was.amount && budget.period.kind === was.period.kind, `${name} was set by nobody`),
    ...rule(budget.period.id >= was.period.id, `${name} went back to the period ${budget.period.id}`),
    ...rule(budget.spent === spent, `${name} says that ${budget.spent} is spent, and it is ${spent}`),
    ...rule(!isLocked || budget.left >= 0n, `${name} was passed: ${budget.left} left`),
  ]
}

function checkHeld(id: string, { held }: Budget, now: Snapshot): string[] {
  const ofJobs = [...now.reservations.values()].filter(({ state, budget }) => state === 'held' && budget?.id === id)
  const ofRequests = now.holds.map(({ budgets }) => budgets[id] ?? 0n)
  const expected = sum([...ofJobs.map((each) => each.amount), ...ofRequests])
  return rule(held === expected, `the budget ${id} holds ${held}, and open reservations in it ${expected}`)
}

/** A hold says of each budget what its requests hold there. */
function checkNamed(
  { holdId, open, requests: count, budgets }: Snapshot['holds'][number],
  { requests }: Known,
): string[] {
  const named = new Map<string, bigint>()
  for (const { id, amount: held } of open) {
    const budgetId = requests.get(id)?.reservation.budget?.id
    if (budgetId !== undefined) {
      named.set(budgetId, (named.get(budgetId) ?? 0n) + held)
    }
  }
  const isWhole = count === open.length
  return [...new Set([...named.keys(), ...Object.keys(budgets)])].flatMap((id) => {
    const [said, known] = [budgets[id] ?? 0n, named.get(id) ?? 0n]
    return rule(
      isWhole ? said === known : said >= known,
      `hold ${holdId} says ${said} of the budget ${id}, and names ${known}`,
    )
  })
}
