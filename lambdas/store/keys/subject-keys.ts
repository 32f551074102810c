import * as z from 'zod/mini'
import { type BudgetLimit, periodAt } from '#core/budgets.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { readLimits, type SubjectLimits, writeLimits } from '#core/identity.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import { subjectDigest } from '#core/refused-key.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { putKeyBudget, readKeyBudget } from '../budgets.ts'
import { type BudgetOfKey, nameBudget } from '../callers.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { change, isStill } from '../table/expressions.ts'
import { type Item, type NamedWrites, type Table, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { isTenantInState, readTenantState } from '../tenants/tenants.ts'
import { getApiKey, updateKey } from './api-keys.ts'

/** A subject of an issuer, as the key of a tenant. */
export type Subject = {
  /** Under which its key is stored, from issuer, subject and tenant. */
  readonly digest: string
  readonly issuer: string
  readonly subject: string
  readonly tenantId: string
  /** The name of the rule that it meets. */
  readonly rule: string
  readonly limits: SubjectLimits
}

/** Tries to store a key while others change it or its tenant. */
const TRIES_MAX = 5

/** Characters of the digest in the public id of a key: 96 bits. */
const ID_CHARACTERS = 24

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
      record === undefined
        ? await creation(table, subject, nowMilliseconds)
        : await ruleChange(table, { subject, record, nowMilliseconds })
    if (writes === undefined || (await tryTransact(table, writes)) === undefined) {
      return
    }
  }
  throw new ServiceUnavailableError()
}

async function creation(table: Table, subject: Subject, at: number): Promise<NamedWrites> {
  const { digest, issuer, rule, tenantId, limits } = subject
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
  }
  const listing = { ...tableKeys.apiKeyListing(keyId), ...record, name: subject.subject, createdAt: at, digest }
  const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }
  return {
    tenant: { ConditionCheck: isTenantInState(tenantId, tenantState) },
    newKey: { Put: { Item: { ...tableKeys.apiKey(digest), ...record }, ...isNew } },
    newListing: { Put: { Item: listing, ...isNew } },
    keyBudget: write,
    audit: auditEntry({
      actor: actorOf(subject),
      action: 'key create',
      target: { kind: 'key', id: keyId, tenantId },
      before: null,
      after: { name: subject.subject, issuer, rule, models: limits.models, rate: limits.ratePerMinute },
      at,
    }),
  }
}

function actorOf({ issuer, subject }: Subject): Actor {
  return { name: `${subject} of ${issuer}`, role: 'tenant' }
}

const subjectItem = z.object({
  keyId: z.string(),
  state: z.enum(['active', 'revoked']),
  models: z.nullable(z.array(z.string())),
  ratePerMinute: z.optional(z.number()),
  revision: z.optional(z.number()),
  ruleLimits: z.string(),
  ruleAppliedAt: z.number(),
})

type Applied = { readonly subject: Subject; readonly record: Item; readonly nowMilliseconds: number }

/** Undefined where the key has the limits of the rule already, is revoked, or had a rule applied a moment ago. */
async function ruleChange(
  table: Table,
  { subject, record, nowMilliseconds: at }: Applied,
): Promise<NamedWrites | undefined> {
  const { keyId, state, models, ratePerMinute = null, revision, ruleLimits, ruleAppliedAt } = subjectItem.parse(record)
  const limits = writeLimits(subject.limits)
  if (state === 'revoked' || ruleLimits === limits || at - ruleAppliedAt < APPLIED_MILLISECONDS_MIN) {
    return undefined
  }
  const before = readLimits(ruleLimits)
  const isLowered = JSON.stringify(models) !== JSON.stringify(before.models)
  const next = {
    models: isLowered ? commonModels(models, subject.limits.models) : subject.limits.models,
    ratePerMinute:
      ratePerMinute === before.ratePerMinute
        ? subject.limits.ratePerMinute
        : lowerRate(ratePerMinute, subject.limits.ratePerMinute),
  }
  const hasNoBudget = before.budget === null && subject.limits.budget === null
  const { budget, write } = await budgetFor(table, subject, at, before.budget)
  const { budgetId, budgetPeriod } = nameBudget(budget)
  const set = {
    models: next.models,
    ratePerMinute: next.ratePerMinute ?? undefined,
    ...{ budgetId, budgetPeriod },
    ...{ ruleLimits: limits, ruleAppliedAt: at, rule: subject.rule, revision: (revision ?? 0) + 1 },
  }
  const remove = [
    ...(next.ratePerMinute === null ? ['ratePerMinute'] : []),
    // A budget that an operator has set beside the rule stays.
    ...(budgetId === undefined && !hasNoBudget ? ['budgetId', 'budgetPeriod'] : []),
  ]
  const isAsRead = [isStill('state', 'active'), isStill('revision', revision)]
  return {
    key: { Update: change(tableKeys.apiKey(subject.digest), { set, remove }, isAsRead) },
    listing: { Update: change(tableKeys.apiKeyListing(keyId), { set, remove }, isAsRead) },
    keyBudget: write,
    audit: auditEntry({
      actor: actorOf(subject),
      action: 'key set',
      target: { kind: 'key', id: keyId, tenantId: subject.tenantId },
      before: { models, rate: ratePerMinute },
      after: { rule: subject.rule, models: next.models, rate: next.ratePerMinute },
      at,
    }),
  }
}

function commonModels(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  return one === null ? other : other === null ? one : one.filter((model) => other.includes(model))
}

function lowerRate(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other)
}

/**
 * The budget of a subject, or of all subjects of its rule, with the write that it needs. Each kind of period has a budget of its own, because the
 * sums of one say nothing about another.
 */
async function budgetFor(
  table: Table,
  subject: Subject,
  at: number,
  before: BudgetLimit | null = null,
): Promise<PlannedBudget> {
  const { digest, tenantId, limits } = subject
  if (limits.budget === null) {
    return { budget: undefined, write: undefined }
  }
  const { kind } = limits.budget
  const id = limits.sharesBudget ? `rule_${tenantId}_${subject.rule}_${kind}` : `${subjectKeyId(digest)}_${kind}`
  return { budget: { id, kind }, write: await budgetWrite(table, { id, tenantId, limit: limits.budget, at, before }) }
}

type PlannedBudget = {
  readonly budget: BudgetOfKey | undefined
  readonly write: NamedWrites[string]
}

type WantedBudget = {
  readonly id: string
  readonly tenantId: string
  readonly limit: BudgetLimit
  readonly at: number
  /** What the rule said when it was last applied. */
  readonly before: BudgetLimit | null
}

async function budgetWrite(
  table: Table,
  { id, tenantId, limit: { amount, kind }, at, before }: WantedBudget,
): Promise<NamedWrites[string]> {
  const item = await table.readItem(tableKeys.keyBudget(id))
  if (item === undefined) {
    const period = periodAt(kind, at)
    const begun = { amount, period, spent: ZERO, held: ZERO, left: amount, free: amount, changedAt: at }
    return putKeyBudget(tenantId, id, begun)
  }
  const stored = readKeyBudget(item)
  const isLowered = before !== null && stored.amount < before.amount
  const next = isLowered && stored.amount < amount ? stored.amount : amount
  const more = (next - stored.amount) as Microcredits
  return more === ZERO
    ? undefined
    : {
        Update: change(tableKeys.keyBudget(id), { set: { amount: next }, add: { left: more, free: more } }, [
          isStill('amount', stored.amount),
        ]),
      }
}

/**
 * Lets the subject of an issuer call again, whose key was revoked: in one transaction with the entry of the audit log. A key that is not revoked
 * stays as it is.
 * @throws StoreRefusal `not_found`, `key_unusable` for an API key, which stays revoked; `changed_meanwhile`.
 */
export async function restoreSubjectKey(table: Table, keyId: string, actor: Actor): Promise<void> {
  const { tenantId, state, identity } = (await getApiKey(table, keyId)).listing
  if (identity === undefined) {
    throw new StoreRefusal('key_unusable', `key ${keyId} is an API key, whose revocation is final: create a new one`)
  }
  if (state === 'active') {
    return
  }
  const restoring = await updateKey(table, keyId, { set: { state: 'active' } }, [isStill('state', 'revoked')])
  const target = { kind: 'key', id: keyId, tenantId } as const
  const [before, after] = [{ state: 'revoked' }, { state: 'active' }]
  const audit = auditEntry({ actor, action: 'key restore', target, before, after, at: Date.now() })
  if ((await tryTransact(table, { ...restoring, audit })) !== undefined) {
    throw new StoreRefusal('changed_meanwhile', `key ${keyId} is being changed by others: nothing was done`)
  }
}
