import { randomUUID } from 'node:crypto'
import { withoutSecrets } from '#core/redaction.ts'
import type { Role } from '#core/roles.ts'
import { type Table, type TableWrite, tryTransact } from '../table/table.ts'
import { dueSortKey, tableKeys } from '../table/table-keys.ts'

/**
 * What an actor may do. `operator`: runs the admin commands. `service`: a function that acts by itself. `anonymous`: an actor who was refused.
 * The others are the roles of the console and of admin keys.
 */
type ActorRole = 'operator' | Role | 'service' | 'anonymous'

/** Who causes an effect. */
export type Actor = {
  /** The ARN of an AWS caller, `user@host` on a local host, the name of a console user, or the address of an anonymous actor. */
  readonly name: string
  readonly role: ActorRole
  /** The id of the HTTP request in which the actor acts, if there is one. */
  readonly requestId?: string | undefined
}

/** What an effect changes. */
type AuditTarget = {
  readonly kind: 'tenant' | 'key' | 'job' | 'secret' | 'cdn-key' | 'channel' | 'model' | 'console'
  readonly id: string
  /** The tenant of a key or job, so that a search for the tenant finds the entry. */
  readonly tenantId?: string | undefined
}

/** What was done, as a command names it, such as `key revoke`. */
export type AuditAction = `${string} ${string}`

type FieldValue = string | number | boolean | null | readonly string[]

/**
 * The fields of a target that an entry may show. The list is closed: no field holds an API key, a callback secret, a private key or a
 * digest. Amounts are decimal strings in credits, times are ISO 8601.
 */
type AuditFieldName =
  | 'name'
  | 'state'
  | 'amount'
  | 'available'
  | 'granted'
  | 'reference'
  | 'reason'
  | 'openJobs'
  | 'models'
  | 'rate'
  | 'expires'
  | 'replacedBy'
  | 'replaces'
  | 'until'
  | 'execution'
  | 'status'
  | 'channels'
  | 'weight'
  | 'priority'
  | 'budget'
  | 'spent'
  | 'held'
  | 'period'
  | 'attempts'
  | 'alertOrigin'
  | 'lowBalance'
  | 'thresholds'
  | 'role'
  | 'kind'
  | 'sessions'
  | 'issuer'
  | 'rule'
  | 'users'

/** The fields of a target that an effect changes, before or after it. */
export type AuditedFields = Readonly<Partial<Record<AuditFieldName, FieldValue>>>

/** One effect. */
export type NewAuditEntry = {
  readonly actor: Actor
  readonly action: AuditAction
  readonly target: AuditTarget
  /** Null for something that did not exist before. */
  readonly before: AuditedFields | null
  /** Null for something that does not exist any more. */
  readonly after: AuditedFields | null
  /** When it happened, in Unix milliseconds. */
  readonly at: number
  /** Distinguishes entries of the same millisecond; random when left out. The same `at` and `id` name the same entry. */
  readonly id?: string
}

/**
 * The write that records an effect, for the transaction that makes the effect. It is refused if the entry exists. A string that contains a
 * key, a secret or a digest is stored without it.
 */
export function auditEntry({ actor, action, target, before, after, at, id = randomUUID() }: NewAuditEntry) {
  return {
    Put: {
      ConditionExpression: 'attribute_not_exists(PK)',
      Item: {
        ...tableKeys.auditEntry(auditPosition(at, id)),
        at,
        actor: withoutSecrets(actor.name),
        role: actor.role,
        requestId: actor.requestId,
        action,
        kind: target.kind,
        target: withoutSecrets(target.id),
        tenant: target.kind === 'tenant' ? target.id : target.tenantId,
        before: cleaned(before),
        after: cleaned(after),
      },
    },
  } as const satisfies TableWrite
}

/** The sort key of an entry. With an empty id, it stands before every entry of its millisecond. */
export function auditPosition(atMilliseconds: number, id: string): string {
  return `${dueSortKey(atMilliseconds)}#${id}`
}

/**
 * Records an effect that no transaction of the table makes.
 * @returns false if the entry was already there, which only an entry with a given id can be.
 * @throws ServiceUnavailableError if the table stays out of reach; the entry may then exist.
 */
export async function recordAudit(table: Pick<Table, 'transact'>, entry: NewAuditEntry): Promise<boolean> {
  return (await tryTransact(table, { audit: auditEntry(entry) })) === undefined
}

function cleaned(fields: AuditedFields | null): Readonly<Record<string, FieldValue | undefined>> | null {
  return fields === null
    ? null
    : Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cleanedValue(value)]))
}

function cleanedValue(value: FieldValue): FieldValue {
  if (typeof value === 'string') {
    return withoutSecrets(value)
  }
  return typeof value === 'object' && value !== null ? value.map(withoutSecrets) : value
}
