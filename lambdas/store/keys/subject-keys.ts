import * as z from 'zod/mini'
import { type BudgetLimit, formatBudgetLimit, periodAt } from '#core/budgets.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { commonModels, lowerRate, readLimits, type SubjectLimits, writeLimits } from '#core/identity.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import { subjectDigest } from '#core/refused-key.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { auditEntry } from '../audit/audit-entry.ts'
import { putKeyBudget, readKeyBudget } from '../budgets.ts'
import { type BudgetOfKey, budgetAttributes, type Caller, nameBudget, namedBudget } from '../callers.ts'
import { storedAmount } from '../table/attributes.ts'
import { allOf, change, isStill } from '../table/expressions.ts'
import { type Item, type NamedWrites, type Table, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { isTenantInState, readTenantState } from '../tenants/tenants.ts'

/** A subject of an issuer, as the key of a tenant. */
export type Subject = {
  /** Under which its key is stored, from issuer, subject and tenant. */
  readonly digest: string
  readonly issuer: string
  readonly subject: string
  readonly tenantId: string
  /** Of the rule that it meets. */
  readonly limits: SubjectLimits
}

/** Tries to store a key while others change it or its tenant. */
const TRIES_MAX = 5

/** Characters of the digest in the public id of a key: 96 bits. */
const ID_CHARACTERS = 24

/** A subject that does not call for so long is forgotten, but for its ledger, its usage and its budget. */
const KEPT_SECONDS = 90 * 86_400

/** How often a subject that calls is kept for longer. Each time takes a transaction. */
const RENEWAL_SECONDS = 86_400

/** A rule is applied to a key at most once in this time, so that two versions of a rule, as during a deployment, do not write in turns. */
const APPLIED_MILLISECONDS_MIN = 30_000

/** Under which the key of a subject is stored: no two of issuer, subject and tenant have the same, and no API key has such a digest. */
export function digestOfSubject({
  issuer,
  subject,
  tenantId,
}: Pick<Subject, 'issuer' | 'subject' | 'tenantId'>): string {
  return subjectDigest(sha256Hex(JSON.stringify([issuer, subject, tenantId])))
}

/** The public id of the key of a subject. */
export function subjectKeyId(digest: string): string {
  return `sub_${digest.slice(-ID_CHARACTERS)}`
}

/**
 * Makes the key of a subject at its first use, and applies a changed rule to it: in one transaction with its budget and the entry of the audit
 * log, so that requests at once make one key. A key that is revoked or suspended stays so.
 * @throws ServiceUnavailableError for a tenant that does not exist, and while others keep changing the key.
 */
export async function admitSubject(table: Table, subject: Subject, nowMilliseconds: number): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const record = await table.readItem(tableKeys.apiKey(subject.digest))
    const writes =
      record === undefined || isForgotten(record, nowMilliseconds)
        ? await creation(table, subject, { at: nowMilliseconds, forgotten: record })
        : ((await ruleChange(table, { subject, record, nowMilliseconds })) ??
          renewal({ subject, record, nowMilliseconds }))
    // The balance of the tenant, which is checked, changes with each relayed request.
    if (writes === undefined || (await tryTransact(table, writes, { isCrowded: true })) === undefined) {
      return
    }
  }
  throw new ServiceUnavailableError()
}

/** Whether the caller of a subject may be used as it is: it meets the rule that it had, and is not forgotten soon. */
export function isAdmitted(
  { ruleLimits, ttl }: Pick<Caller, 'ruleLimits' | 'ttl'>,
  limits: SubjectLimits,
  now: number,
): boolean {
  return ruleLimits === writeLimits(limits) && !isToBeRenewed({ ttl }, now)
}

function isToBeRenewed({ ttl = 0 }: { readonly ttl?: number | undefined }, nowMilliseconds: number): boolean {
  return ttl < nowMilliseconds / 1000 + KEPT_SECONDS - RENEWAL_SECONDS
}

/** The table deletes items up to two days late, one without the other. */
function isForgotten({ ttl }: Item, nowMilliseconds: number): boolean {
  return typeof ttl === 'number' && ttl <= nowMilliseconds / 1000
}

/** When a subject that calls now is forgotten. */
export function keptUntil(nowMilliseconds: number): number {
  return Math.floor(nowMilliseconds / 1000) + KEPT_SECONDS
}

/** A revoked subject is never forgotten, because it would call again. */
function renewal({ subject, record, nowMilliseconds }: Applied): NamedWrites | undefined {
  const { keyId, state, ttl } = subjectItem.parse(record)
  if (state === 'revoked' || !isToBeRenewed({ ttl }, nowMilliseconds)) {
    return undefined
  }
  const set = { ttl: keptUntil(nowMilliseconds) }
  const isAsRead = [isStill('state', 'active'), isStill('ttl', ttl)]
  return {
    key: { Update: change(tableKeys.apiKey(subject.digest), { set }, isAsRead) },
    listing: { Update: change(tableKeys.apiKeyListing(keyId), { set }, isAsRead) },
  }
}

type Creation = { readonly at: number; readonly forgotten: Item | undefined }

async function creation(table: Table, subject: Subject, { at, forgotten }: Creation): Promise<NamedWrites> {
  const { digest, issuer, tenantId, limits } = subject
  const { rule } = limits
  const tenantState = await readTenantState(table, tenantId)
  if (tenantState === undefined) {
    throw new ServiceUnavailableError()
  }
  const keyId = subjectKeyId(digest)
  const { budget, write } = await budgetFor(table, subject, at)
  const record = {
    ...{ keyId, tenantId, state: 'active', models: limits.models, ratePerMinute: limits.ratePerMinute ?? undefined },
    ...nameBudget(budget),
    suspended: tenantState === 'suspended' ? true : undefined,
    ...{ ruleLimits: writeLimits(limits), ruleAppliedAt: at, issuer, subject: subject.subject, rule },
    ttl: keptUntil(at),
  }
  const listing = { ...tableKeys.apiKeyListing(keyId), ...record, name: subject.subject, createdAt: at, digest }
  const isNew = forgotten === undefined ? 'attribute_not_exists(PK)' : isStill('ttl', forgotten.ttl)
  return {
    tenant: { ConditionCheck: isTenantInState(tenantId, tenantState) },
    newKey: { Put: { Item: { ...tableKeys.apiKey(digest), ...record }, ...allOf([isNew]) } },
    // The table may have forgotten the key alone.
    newListing: {
      Put: { Item: listing, ...allOf(['(attribute_not_exists(PK) OR digest = :digest)'], { ':digest': digest }) },
    },
    keyBudget: write,
    audit: auditEntry({
      actor: { name: `${subject.subject} of ${issuer}`, role: 'tenant' },
      action: 'key create',
      target: { kind: 'key', id: keyId, tenantId },
      before: null,
      after: {
        ...{ name: subject.subject, issuer, rule, models: limits.models, rate: limits.ratePerMinute },
        budget: limits.budget && formatBudgetLimit(limits.budget),
      },
      at,
    }),
  }
}

const subjectItem = z.object({
  keyId: z.string(),
  state: z.enum(['active', 'revoked']),
  models: z.nullable(z.array(z.string())),
  ratePerMinute: z.optional(z.number()),
  expiresAt: z.optional(z.number()),
  revision: z.optional(z.number()),
  rule: z.string(),
  ...budgetAttributes,
  ruleLimits: z.string(),
  ruleAppliedAt: z.number(),
  ttl: z.optional(z.number()),
  // What an operator has lowered, which stays below whatever the rules say later.
  ownModels: z.optional(z.array(z.string())),
  ownRate: z.optional(z.number()),
  ownBudget: z.optional(storedAmount),
})

type Applied = { readonly subject: Subject; readonly record: Item; readonly nowMilliseconds: number }

/** Undefined where the key has the limits of the rule already, is revoked, or had a rule applied a moment ago. */
async function ruleChange(
  table: Table,
  { subject, record, nowMilliseconds: at }: Applied,
): Promise<NamedWrites | undefined> {
  const stored = subjectItem.parse(record)
  const { keyId, state, models, ratePerMinute = null, revision, ruleLimits, ruleAppliedAt } = stored
  const limits = writeLimits(subject.limits)
  if (state === 'revoked' || ruleLimits === limits || at - ruleAppliedAt < APPLIED_MILLISECONDS_MIN) {
    return undefined
  }
  const { own, next, budget } = await planRule(table, { subject, stored, at })
  const { budgetId, budgetPeriod } = nameBudget(budget.budget)
  const set = {
    models: next.models,
    ratePerMinute: next.rate ?? undefined,
    ...{ budgetId, budgetPeriod },
    ...{ ownModels: own.models ?? undefined, ownRate: own.rate ?? undefined, ownBudget: budget.own },
    ...{ ruleLimits: limits, ruleAppliedAt: at, rule: subject.limits.rule, revision: (revision ?? 0) + 1 },
    ttl: keptUntil(at),
  }
  const remove = [
    ...(next.rate === null ? ['ratePerMinute'] : []),
    ...(budgetId === undefined ? ['budgetId', 'budgetPeriod'] : []),
  ]
  const isAsRead = [isStill('state', 'active'), isStill('revision', revision)]
  const { rule } = subject.limits
  const before = {
    rule: stored.rule,
    models,
    rate: ratePerMinute,
    budget: await budgetText(table, namedBudget(stored)),
  }
  const after = { rule, ...next, budget: budget.limit && formatBudgetLimit(budget.limit) }
  return {
    key: { Update: change(tableKeys.apiKey(subject.digest), { set, remove }, isAsRead) },
    listing: { Update: change(tableKeys.apiKeyListing(keyId), { set, remove }, isAsRead) },
    keyBudget: budget.write,
    // What an operator has lowered may be below both rules.
    audit:
      JSON.stringify(before) === JSON.stringify(after)
        ? undefined
        : auditEntry({
            actor: { name: `rule ${rule} of ${subject.issuer}`, role: 'tenant' },
            action: 'key set',
            target: { kind: 'key', id: keyId, tenantId: subject.tenantId },
            ...{ before, after, at },
          }),
  }
}

/** What a rule makes of the key of a subject: what its operators have lowered, and the limits that follow. */
async function planRule(table: Table, { subject, stored, at }: Pick<Applied, 'subject'> & Planned) {
  const { models, ratePerMinute = null, ruleLimits, ownModels = null, ownRate = null } = stored
  const before = readLimits(ruleLimits)
  const isLowered = JSON.stringify(models) !== JSON.stringify(commonModels(ownModels, before.models))
  const own = {
    models: isLowered ? models : ownModels,
    rate: ratePerMinute === lowerRate(ownRate, before.ratePerMinute) ? ownRate : ratePerMinute,
  }
  const next = {
    models: commonModels(own.models, subject.limits.models),
    rate: lowerRate(own.rate, subject.limits.ratePerMinute),
  }
  return { own, next, budget: await planBudget(table, { subject, stored, at }, before) }
}

type Planned = { readonly stored: z.infer<typeof subjectItem>; readonly at: number }

async function planBudget(
  table: Table,
  { subject, stored, at }: Pick<Applied, 'subject'> & Planned,
  before: SubjectLimits,
): Promise<PlannedBudget> {
  if (before.budget === null && subject.limits.budget === null) {
    // A budget that an operator has set beside the rule stays.
    const budget = namedBudget(stored)
    return { budget, limit: await limitOf(table, budget), write: undefined, own: stored.ownBudget }
  }
  // A budget that subjects share is the rule's alone.
  const applied = before.sharesBudget
    ? { before: null, own: undefined }
    : { before: before.budget, own: stored.ownBudget }
  return await budgetFor(table, subject, at, applied)
}

async function limitOf(table: Table, budget: BudgetOfKey | undefined): Promise<BudgetLimit | null> {
  const item = budget && (await table.readItem(tableKeys.keyBudget(budget.id)))
  if (item === undefined) {
    return null
  }
  const { amount, period } = readKeyBudget(item)
  return { amount, kind: period.kind }
}

async function budgetText(table: Table, budget: BudgetOfKey | undefined): Promise<string | null> {
  const limit = await limitOf(table, budget)
  return limit && formatBudgetLimit(limit)
}

/** How requests of a subject are treated, once its rule is applied. */
export type SubjectOutlook = {
  readonly keyId: string
  /** `unused`: the first request makes the key. */
  readonly state: 'unused' | 'active' | 'revoked' | 'expired' | 'suspended'
  readonly models: readonly string[] | null
  readonly ratePerMinute: number | null
  readonly budget: BudgetLimit | null
}

/**
 * Foresees what {@link admitSubject} makes of a subject, with what operators have lowered. Writes nothing.
 * @throws ServiceUnavailableError for a tenant that does not exist.
 */
export async function foreseeSubject(table: Table, subject: Subject, at: number): Promise<SubjectOutlook> {
  const { digest, tenantId, limits } = subject
  const keyId = subjectKeyId(digest)
  const [tenantState, record] = await Promise.all([
    readTenantState(table, tenantId),
    table.readItem(tableKeys.apiKey(digest)),
  ])
  if (tenantState === undefined) {
    throw new ServiceUnavailableError()
  }
  const isSuspended = tenantState === 'suspended'
  if (record === undefined || isForgotten(record, at)) {
    const { models, ratePerMinute, budget } = limits
    return { keyId, state: isSuspended ? 'suspended' : 'unused', models, ratePerMinute, budget }
  }
  const stored = subjectItem.parse(record)
  const { next, budget } = await planRule(table, { subject, stored, at })
  const { state, expiresAt = Number.POSITIVE_INFINITY } = stored
  const ofActive = expiresAt * 1000 <= at ? 'expired' : isSuspended ? 'suspended' : 'active'
  return {
    keyId,
    state: state === 'revoked' ? state : ofActive,
    models: next.models,
    ratePerMinute: next.rate,
    budget: budget.limit,
  }
}

/**
 * The budget of a subject, or of all subjects of its rule, with the write that it needs. Each kind of period has a budget of its own, because the
 * sums of one say nothing about another.
 */
async function budgetFor(
  table: Table,
  subject: Subject,
  at: number,
  applied: AppliedBudget = { before: null, own: undefined },
): Promise<PlannedBudget> {
  const { digest, tenantId, limits } = subject
  if (limits.budget === null) {
    return { budget: undefined, limit: null, write: undefined, own: applied.own }
  }
  const { kind } = limits.budget
  const id = limits.sharesBudget ? `rule_${tenantId}_${limits.rule}_${kind}` : `${subjectKeyId(digest)}_${kind}`
  const planned = await budgetWrite(table, { id, tenantId, limit: limits.budget, at, ...applied })
  return { budget: { id, kind }, limit: { amount: planned.amount, kind }, write: planned.write, own: planned.own }
}

type AppliedBudget = {
  /** What the rule said when it was last applied. */
  readonly before: BudgetLimit | null
  /** What an operator has lowered the budget to. */
  readonly own: Microcredits | undefined
}

type PlannedBudget = {
  readonly budget: BudgetOfKey | undefined
  /** What it allows from then on. */
  readonly limit: BudgetLimit | null
  readonly write: NamedWrites[string]
  readonly own: Microcredits | undefined
}

type WantedBudget = AppliedBudget & {
  readonly id: string
  readonly tenantId: string
  readonly limit: BudgetLimit
  readonly at: number
}

async function budgetWrite(
  table: Table,
  { id, tenantId, limit: { amount, kind }, at, before, own }: WantedBudget,
): Promise<Pick<PlannedBudget, 'write' | 'own'> & { readonly amount: Microcredits }> {
  const item = await table.readItem(tableKeys.keyBudget(id))
  if (item === undefined) {
    const period = periodAt(kind, at)
    const begun = { amount, period, spent: ZERO, held: ZERO, left: amount, free: amount, changedAt: at }
    return { write: putKeyBudget(tenantId, id, begun), own, amount }
  }
  const stored = readKeyBudget(item)
  const lowered = before === null ? own : ownAmount(stored.amount, before.amount, own)
  const next = lowered !== undefined && lowered < amount ? lowered : amount
  const more = (next - stored.amount) as Microcredits
  const write =
    more === ZERO
      ? undefined
      : {
          Update: change(tableKeys.keyBudget(id), { set: { amount: next }, add: { left: more, free: more } }, [
            isStill('amount', stored.amount),
          ]),
        }
  return { write, own: lowered, amount: next }
}

/** What an operator wants a budget to be at most; undefined for what the rule says. */
function ownAmount(
  stored: Microcredits,
  before: Microcredits,
  own: Microcredits | undefined,
): Microcredits | undefined {
  const expected = own !== undefined && own < before ? own : before
  return stored === expected ? own : stored < before ? stored : undefined
}
