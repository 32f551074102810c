import { ALERT_THRESHOLDS, type Budget, budgetAt, crossedThresholds, periodAt } from '#core/budgets.ts'
import type { RelayedRequest } from './relay-clients.ts'
import { amount, type Balance, type Item, repeated, rule, type Snapshot, sum } from './snapshot.ts'

/** A budget of a key that was set while nothing moved begins with exactly what its keys have spent. */
export function checkLateStart(id: string, now: Snapshot): string[] {
  const budget = now.keyBudgets.get(id)?.budget
  const spent = budget === undefined ? 0n : spentBy(id, budget, now)
  return rule(
    budget?.spent === spent,
    `the budget ${id} was set late with ${budget?.spent}, and its keys spent ${spent}`,
  )
}

/** What the keys that share a budget have spent in its period. */
export function spentBy(id: string, { period }: Budget, now: Snapshot): bigint {
  const keys = sharing(id, now)
  const own = now.rows.filter(({ item }) => isSettledIn(period, item) && keys.includes(String(item.keyId)))
  return sum(own.map(({ item }) => amount(item.actual)))
}

/** The keys that count in a budget. */
export function sharing(id: string, { keys }: Snapshot): string[] {
  return [...keys].filter(([, { budgetId }]) => budgetId === id).map(([digest]) => digest)
}

/** The budget of a tenant has spent what the settlements of its period say. */
export function checkSpent(tenantId: string, { period, spent }: Budget, { rows }: Snapshot): string[] {
  const own = rows.filter((row) => row.tenantId === tenantId && isSettledIn(period, row.item))
  const settled = sum(own.map(({ item }) => amount(item.actual)))
  return rule(
    spent === settled,
    `the budget of ${tenantId} has spent ${spent} in ${period.id}, and settlements ${settled}`,
  )
}

function isSettledIn({ kind, id }: Budget['period'], { kind: of, at }: Item): boolean {
  return of === 'settle' && periodAt(kind, Number(at)).id === id
}

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

type KnownAlerts = { readonly alerted: readonly string[] }
type Alert = Snapshot['alerts'][number]

/** The rules of alerts: each is recorded once, with its mark, and received under the one id that it has. */
export function checkAlerts({ alerted }: KnownAlerts, { before, now }: Looks): string[] {
  const known = new Set(now.alerts.map(({ id }) => id))
  const subjects = new Set(now.alerts.map(({ subject }) => subject))
  const told = new Set(alerted)
  return [
    ...[...subjects].flatMap((subject) =>
      repeatedThresholds(now.alerts.filter((alert) => alert.subject === subject)).map(
        (threshold) => `${subject} was alerted twice of ${threshold}`,
      ),
    ),
    ...alerted.flatMap((id) => rule(known.has(id), `the alert ${id} was sent, and there is none`)),
    ...now.alerts
      .filter(({ operators, tenant }) => operators === 'delivered' || tenant === 'delivered')
      .flatMap(({ id }) => rule(told.has(id), `the alert ${id} is said to be delivered`)),
    ...now.alerts.filter(({ id }) => isNew(id, before)).flatMap((alert) => checkMark(alert, now)),
  ]
}

/** Another kind of period is another budget, which is alerted afresh. */
function repeatedThresholds(alerts: readonly Alert[]): string[] {
  const found: string[] = []
  let kind: string | undefined
  let thresholds: string[] = []
  for (const alert of alerts.toSorted((left, right) => left.at - right.at)) {
    thresholds = alert.kind === kind ? thresholds : []
    kind = alert.kind
    thresholds.push(...alert.crossed.map((threshold) => `${threshold} % in ${alert.period}`))
    found.push(...repeated(thresholds))
  }
  return found
}

function isNew(id: string, before: Snapshot | undefined): boolean {
  return before !== undefined && !before.alerts.some((alert) => alert.id === id)
}

function checkMark({ subject, period, crossed }: Alert, { marks }: Snapshot): string[] {
  const mark = marks.get(subject)
  const isBalance = subject.endsWith(' balance')
  const isKept = isBalance
    ? mark?.isArmed === false
    : mark?.period === period && crossed.every((threshold) => mark.crossed.includes(threshold))
  return rule(isKept, `an alert of ${subject} was recorded without its mark`)
}

/** When nothing moves any more, Reconcile has found every budget and balance that calls for an alert, and has sent what it found. */
export function missingAlerts(now: Snapshot, nowMilliseconds: number): string[] {
  const budgets = [
    ...[...now.keyBudgets].map(([id, { tenantId, budget }]) => ({ subject: `${tenantId} key#${id}`, budget })),
    ...[...now.tenantBudgets].map(([tenantId, budget]) => ({ subject: `${tenantId} tenant`, budget })),
  ]
  return [
    ...budgets.flatMap(({ subject, budget }) => {
      const present = budgetAt(budget, nowMilliseconds)
      const mark = now.marks.get(subject)
      const isMarked = (threshold: number) => mark?.period === present.period.id && mark.crossed.includes(threshold)
      const missing = crossedThresholds(present, ALERT_THRESHOLDS).filter((threshold) => !isMarked(threshold))
      return missing.map((threshold) => `nobody was alerted that ${subject} reached ${threshold} %`)
    }),
    ...now.balances
      .filter(([tenantId, balance]) => isLow(balance) && now.marks.get(`${tenantId} balance`)?.isArmed !== false)
      .map(([tenantId]) => `nobody was alerted that the balance of ${tenantId} is low`),
    ...now.alerts
      .filter(({ operators, tenant }) => operators === 'due' || tenant === 'due')
      .map(({ id }) => `the alert ${id} is still to be sent`),
  ]
}

function isLow({ available, lowBalance }: Balance): boolean {
  return lowBalance !== undefined && available < lowBalance
}
