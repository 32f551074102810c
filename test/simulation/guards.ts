import * as z from 'zod'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'

/** A condition that the product relies on, by what it says; taken out to see that the simulation notices. */
export type Guard = {
  readonly name: string
  /** The kind of the item that the condition guards. */
  readonly item: keyof typeof tableKeys
  /** What is taken out of each condition that has all of it: clauses by the names of attributes, with `?` for values. */
  readonly clauses: readonly string[]
  /** A clause that such a condition has too, where others say the same; null for no other clause. */
  readonly beside?: string | null
  /** Whether the write changes the item or deletes it, where both have such a condition. */
  readonly write?: 'change' | 'delete'
  /** The first history that noticed its absence when this was written: where the search begins. */
  readonly noticedIn: number
}

const RESOLUTION_KEY = {
  name: 'resolution key',
  item: 'ledgerResolution',
  clauses: ['attribute_not_exists(PK)'],
  noticedIn: 1,
} as const

const ACTIVE_KEY = {
  name: 'key check',
  item: 'apiKey',
  clauses: ['state = ?', 'attribute_not_exists(suspended)'],
} as const

const FUNDS = { item: 'balance', clauses: ['available >= ?'], beside: 'attribute_exists(PK)' } as const

export const GUARDS = {
  funds: { name: 'funds check', ...FUNDS, noticedIn: 11 },
  activeKey: { ...ACTIVE_KEY, noticedIn: 81 },
  openJobs: {
    name: 'open job limit',
    item: 'balance',
    clauses: ['(attribute_not_exists(openJobsMax) OR openJobs < openJobsMax)'],
    noticedIn: 1,
  },
  submitClaim: { name: 'submit claim', item: 'job', clauses: ['attribute_not_exists(submitState)'], noticedIn: 16 },
  channelSlot: {
    name: 'channel slot',
    item: 'channel',
    clauses: ['attribute_not_exists(open) OR open < ?'],
    noticedIn: 1,
  },
  resolutionKey: RESOLUTION_KEY,
  reservationState: { name: 'reservation state', item: 'reservation', clauses: ['state = ?'], noticedIn: 1 },
  jobStatus: { name: 'job status', item: 'job', clauses: ['status IN (?)'], noticedIn: 1 },
  webhookClaim: {
    name: 'webhook claim',
    item: 'job',
    clauses: ['attribute_not_exists(callbackState)'],
    noticedIn: 191,
  },
} as const satisfies Record<string, Guard>

/** A suspension is kept by the mark of each key and by the state of the tenant: either is enough. */
export const SUSPENSION_GUARDS = [
  { name: 'mark of a key', item: 'apiKey', clauses: ['attribute_not_exists(suspended)'], noticedIn: 189 },
  { name: 'state of a tenant', item: 'balance', clauses: ['attribute_exists(PK)', 'state = ?'], noticedIn: 189 },
] as const satisfies readonly Guard[]

/** What stands behind a transaction of relayed requests, beside the key check and the resolution key that jobs have too. */
export const RELAY_GUARDS = {
  funds: { name: 'funds check of a group', ...FUNDS, noticedIn: 8 },
  holdVersion: {
    name: 'version of a hold',
    item: 'relayHold',
    clauses: ['version = ?'],
    write: 'change',
    noticedIn: 2,
  },
  newHold: {
    name: 'proof that a hold is new',
    item: 'relayHold',
    clauses: ['attribute_not_exists(PK)'],
    noticedIn: 90,
  },
  releasedHold: {
    name: 'version of a hold that is given back',
    item: 'relayHold',
    clauses: ['version = ?'],
    write: 'delete',
    noticedIn: 2,
  },
  keyRevision: {
    name: 'revision of a key',
    item: 'apiKey',
    clauses: ['attribute_not_exists(revision)'],
    noticedIn: 25,
  },
  resolutionKey: RESOLUTION_KEY,
  activeKey: { ...ACTIVE_KEY, noticedIn: 57 },
} as const satisfies Record<string, Guard>

/** What keeps budgets, corrections and alerts right. */
export const BUDGET_GUARDS = {
  keyRoom: { name: 'room in the budget of a key', item: 'keyBudget', clauses: ['left >= ?'], noticedIn: 11 },
  keyRoomOfNewPeriod: {
    name: 'room in a new period of it',
    item: 'keyBudget',
    clauses: ['free >= ?'],
    noticedIn: 314,
  },
  tenantRoom: {
    name: 'room in the budget of a tenant',
    item: 'balance',
    clauses: ['budgetLeft >= ?'],
    noticedIn: 1,
  },
  noTenantBudget: {
    name: 'proof that a tenant has no budget',
    item: 'balance',
    clauses: ['attribute_not_exists(budgetPeriodId)'],
    noticedIn: 1,
  },
  correction: {
    name: 'funds check of a correction',
    item: 'balance',
    clauses: ['available >= ?'],
    beside: null,
    noticedIn: 11,
  },
  correctionId: {
    name: 'id of a correction',
    item: 'ledgerAdjustment',
    clauses: ['attribute_not_exists(PK)'],
    noticedIn: 1,
  },
} as const satisfies Record<string, Guard>

type Names = Readonly<Record<string, unknown>>
type Guarded = {
  readonly Key?: unknown
  readonly Item?: unknown
  readonly ConditionExpression?: string
  readonly UpdateExpression?: string
  readonly ExpressionAttributeNames?: Names
  readonly ExpressionAttributeValues?: Names
}

/** The same request without the clauses of the missing guards. */
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

/** True in place of a condition: a check must have one. */
const ALWAYS = 'attribute_not_exists(neverThere)'

function weakened<Part extends Guarded>(part: Part, missing: readonly Guard[]): Part {
  const { ConditionExpression, ExpressionAttributeNames } = part
  if (ConditionExpression === undefined) {
    return part
  }
  const clauses = clausesOf(ConditionExpression).map((clause) => ({
    clause,
    plain: plainClause(clause, ExpressionAttributeNames),
  }))
  const all = clauses.map(({ plain }) => plain)
  const gone = missing.filter((guard) => isGuardOf(guard, part, all)).flatMap((guard) => guard.clauses)
  if (gone.length === 0) {
    return part
  }
  const left = clauses.filter(({ plain }) => !gone.includes(plain)).map(({ clause }) => clause)
  const condition = left.length === 0 ? ALWAYS : left.join(' AND ')
  const text = `${part.UpdateExpression ?? ''} ${condition}`
  return {
    ...part,
    ConditionExpression: condition,
    ExpressionAttributeNames: stillUsed(ExpressionAttributeNames, text),
    ExpressionAttributeValues: stillUsed(part.ExpressionAttributeValues, text),
  }
}

/** The table refuses names and values that no expression mentions. */
function stillUsed(names: Names | undefined, text: string): Names | undefined {
  const used = Object.entries(names ?? {}).filter(([name]) => new RegExp(`${name}\\b`).test(text))
  return used.length === 0 ? undefined : Object.fromEntries(used)
}

/** The parts of a condition that all must hold. */
function clausesOf(condition: string): readonly string[] {
  const clauses: string[] = []
  let depth = 0
  for (const word of condition.split(' ')) {
    if (word === 'AND' && depth === 0) {
      clauses.push('')
    } else {
      clauses.push(`${clauses.pop() ?? ''} ${word}`.trimStart())
    }
    depth += word.split('(').length - word.split(')').length
  }
  return clauses
}

/** A clause with the attributes' own names, and with `?` for each value and each list of values. */
function plainClause(clause: string, names: Names | undefined): string {
  return clause
    .replaceAll(/#\w+/g, (name) => String(names?.[name] ?? name))
    .replaceAll(/:\w+/g, '?')
    .replaceAll(/\?(, \?)+/g, '?')
}

function isGuardOf({ item, clauses, beside, write }: Guard, part: Guarded, all: readonly string[]): boolean {
  const isWrite = write === undefined || (write === 'change') === (part.UpdateExpression !== undefined)
  const isBeside = beside === null ? all.length === clauses.length : beside === undefined || all.includes(beside)
  return isWrite && isBeside && clauses.every((clause) => all.includes(clause)) && isOfKind(part, item)
}

/** Whether a request is for an item of this kind, by its key. */
function isOfKind({ Key, Item }: Guarded, kind: Guard['item']): boolean {
  const { PK, SK } = tableKey.parse(Key ?? Item)
  const keyOf = tableKeys[kind] as (...ids: readonly string[]) => TableKey
  const pattern = keyOf(...Array.from({ length: keyOf.length }, () => ANY_ID))
  return [
    [PK, pattern.PK],
    [SK, pattern.SK],
  ].every(([text = '', form = '']) => new RegExp(`^${form.replaceAll(ANY_ID, '.+')}$`).test(text))
}

const ANY_ID = '\0'
const tableKey = z.object({ PK: z.string(), SK: z.string() })
