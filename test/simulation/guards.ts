/** A condition that the product relies on, by the words of its expression; taken out to see that the simulation notices. */
export type Guard = {
  readonly name: string
  /** Part of the sort key of the item that the condition guards. */
  readonly item: string
  /** The clause; the rest of the condition stays. */
  readonly clause: string
  /** The first history that noticed its absence when this was written: where the search begins. */
  readonly noticedIn: number
}

export const GUARDS = {
  funds: { name: 'funds check', item: '', clause: 'available >= :amount', noticedIn: 11 },
  activeKey: {
    name: 'key check',
    item: '',
    clause: '#state = :active AND attribute_not_exists(suspended)',
    noticedIn: 40,
  },
  openJobs: {
    name: 'open job limit',
    item: '',
    clause: '(attribute_not_exists(openJobsMax) OR openJobs < openJobsMax)',
    noticedIn: 1,
  },
  submitClaim: { name: 'submit claim', item: 'JOB#', clause: 'attribute_not_exists(submitState)', noticedIn: 16 },
  channelSlot: { name: 'channel slot', item: '0', clause: '#open < :max', noticedIn: 1 },
  resolutionKey: { name: 'resolution key', item: '#2', clause: 'attribute_not_exists(PK)', noticedIn: 1 },
  reservationState: { name: 'reservation state', item: 'RESERVATION#', clause: '#state = :held', noticedIn: 1 },
  jobStatus: { name: 'job status', item: 'JOB#', clause: '#status IN (:from0', noticedIn: 1 },
  webhookClaim: { name: 'webhook claim', item: 'JOB#', clause: 'attribute_not_exists(callbackState)', noticedIn: 189 },
} as const satisfies Record<string, Guard>

/** A suspension is kept by the mark of each key and by the state of the tenant: either is enough. */
export const SUSPENSION_GUARDS = [
  { name: 'mark of a key', item: '', clause: 'attribute_not_exists(suspended)', noticedIn: 141 },
  { name: 'state of a tenant', item: '', clause: 'attribute_exists(PK) AND #state = :active', noticedIn: 141 },
] as const satisfies readonly Guard[]

/** What stands behind a transaction of relayed requests, beside the key check and the resolution key that jobs have too. */
export const RELAY_GUARDS = {
  funds: { name: 'funds check of a group', item: '0', clause: 'available >= :needed', noticedIn: 6 },
  holdVersion: { name: 'version of a hold', item: 'PROC#', clause: 'version = :known', noticedIn: 2 },
  newHold: { name: 'proof that a hold is new', item: 'PROC#', clause: 'attribute_not_exists(PK)', noticedIn: 117 },
  releasedHold: {
    name: 'version of a hold that is given back',
    item: 'PROC#',
    clause: '#version = :was_version',
    noticedIn: 2,
  },
  keyRevision: { name: 'revision of a key', item: '0', clause: 'attribute_not_exists(revision)', noticedIn: 24 },
  resolutionKey: { name: 'resolution key', item: '#2', clause: 'attribute_not_exists(PK)', noticedIn: 1 },
  activeKey: {
    name: 'key check',
    item: '0',
    clause: '#state = :active AND attribute_not_exists(suspended)',
    noticedIn: 41,
  },
} as const satisfies Record<string, Guard>

/** What keeps budgets, corrections and alerts right. */
export const BUDGET_GUARDS = {
  keyRoom: { name: 'room in the budget of a key', item: '0', clause: '#left >= :budgetNeeded', noticedIn: 3 },
  keyRoomOfNewPeriod: {
    name: 'room in a new period of it',
    item: '0',
    clause: '#free >= :budgetNeeded',
    noticedIn: 141,
  },
  tenantRoom: {
    name: 'room in the budget of a tenant',
    item: '0',
    clause: 'budgetLeft >= :budgetNeeded',
    noticedIn: 1,
  },
  noTenantBudget: {
    name: 'proof that a tenant has no budget',
    item: '0',
    clause: 'attribute_not_exists(budgetPeriodId)',
    noticedIn: 1,
  },
  correction: { name: 'funds check of a correction', item: '0', clause: 'available >= :taken', noticedIn: 10 },
  correctionId: { name: 'id of a correction', item: 'adjust#', clause: 'attribute_not_exists(PK)', noticedIn: 1 },
} as const satisfies Record<string, Guard>

/** True in place of a clause. */
const ALWAYS = 'attribute_not_exists(neverThere)'

type Names = Readonly<Record<string, unknown>>
type Guarded = {
  readonly Key?: unknown
  readonly Item?: unknown
  readonly ConditionExpression?: string
  readonly UpdateExpression?: string
  readonly ExpressionAttributeNames?: Names
  readonly ExpressionAttributeValues?: Names
}

/** The same request with the clauses of the missing guards replaced by something that is always true. */
export function withoutGuards<Input extends object>(input: Input, missing: readonly Guard[]): Input {
  if (missing.length === 0) {
    return input
  }
  const weaken = <Part extends Guarded>(part: Part): Part => weakened(part, missing)
  if ('TransactItems' in input && Array.isArray(input.TransactItems)) {
    const items = input.TransactItems.map((item: Record<string, Guarded>) =>
      Object.fromEntries(Object.entries(item).map(([kind, part]) => [kind, weaken(part)])),
    )
    return { ...input, TransactItems: items }
  }
  return weaken(input)
}

function weakened<Part extends Guarded>(part: Part, missing: readonly Guard[]): Part {
  const { ConditionExpression } = part
  if (ConditionExpression === undefined) {
    return part
  }
  const clauses = missing.filter(
    ({ item, clause }) => sortKeyOf(part).includes(item) && ConditionExpression.includes(clause),
  )
  if (clauses.length === 0) {
    return part
  }
  const condition = clauses.reduce((rest, { clause }) => replaceClause(rest, clause), ConditionExpression)
  const text = `${part.UpdateExpression ?? ''} ${condition}`
  return {
    ...part,
    ConditionExpression: condition,
    ExpressionAttributeNames: stillUsed(part.ExpressionAttributeNames, text),
    ExpressionAttributeValues: stillUsed(part.ExpressionAttributeValues, text),
  }
}

/** The table refuses names and values that no expression mentions. */
function stillUsed(names: Names | undefined, text: string): Names | undefined {
  const used = Object.entries(names ?? {}).filter(([name]) => new RegExp(`${name}\\b`).test(text))
  return used.length === 0 ? undefined : Object.fromEntries(used)
}

/** The clause may be the beginning of a longer one: it ends at the next AND or OR outside of brackets, or at the end. */
function replaceClause(condition: string, clause: string): string {
  const start = condition.indexOf(clause)
  let depth = 0
  let end = start
  for (; end < condition.length; end += 1) {
    depth += condition[end] === '(' ? 1 : condition[end] === ')' ? -1 : 0
    if (depth < 0 || (depth === 0 && end >= start + clause.length && /^ (AND|OR) /.test(condition.slice(end)))) {
      break
    }
  }
  return condition.slice(0, start) + ALWAYS + condition.slice(end)
}

function sortKeyOf({ Key, Item }: Guarded): string {
  const key = Key ?? Item
  return typeof key === 'object' && key !== null && 'SK' in key ? String(key.SK) : ''
}
