import * as z from 'zod/mini'
import type { Table, TableQuery } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { auditPosition } from './audit-entry.ts'

const fields = z.nullable(z.record(z.string(), z.unknown()))
const auditItem = z.object({
  SK: z.string(),
  /** Unix milliseconds. */
  at: z.number(),
  actor: z.string(),
  role: z.string(),
  action: z.string(),
  /** Such as `tenant` or `key`. */
  kind: z.string(),
  /** The id of the target. */
  target: z.string(),
  /** The tenant that the target is, or belongs to. */
  tenant: z._default(z.nullable(z.string()), null),
  before: fields,
  after: fields,
  requestId: z._default(z.nullable(z.string()), null),
})

/** One effect, as it was recorded. `position` orders entries, and continues a reading with `before`. */
export type AuditEntry = Readonly<Omit<z.infer<typeof auditItem>, 'SK'>> & { readonly position: string }

/** Which entries to read. */
export type AuditWish = {
  /** The most entries to return, from 1. */
  readonly limit: number
  /** Entries at or after this time, in Unix milliseconds. */
  readonly since?: number | undefined
  /** Entries before this position, which an earlier reading returned as `next`. */
  readonly before?: string | undefined
  /** Entries whose actor contains this string. */
  readonly actor?: string | undefined
  /** Entries with this action. */
  readonly action?: string | undefined
  /** Requests of one reading, each up to 1 MB. */
  readonly requestsMax?: number
  /** Entries of any target with one of these ids, of any key or job of such a tenant, or of a key that such a key replaced. */
  readonly targets?: readonly string[] | undefined
}

/** Entries, newest first. `next` continues the reading; undefined if every entry was read. */
type AuditReading = { readonly entries: readonly AuditEntry[]; readonly next: string | undefined }

/** Pages of one reading, each up to 1 MB or some 2,500 entries. A search for a rare entry ends here and can be continued. */
const PAGES_MAX = 40

/** Items of a page without a filter: more than `limit` would be read for nothing. */
const PAGE_ITEMS_MAX = 1_000

/**
 * Reads entries, newest first, by at most {@link PAGES_MAX} strongly consistent queries, however many entries there are.
 * @throws ZodError for an entry that this service did not write.
 */
export async function readAudit(table: Pick<Table, 'queryPage'>, wish: AuditWish): Promise<AuditReading> {
  const query = queryFor(wish)
  const entries: AuditEntry[] = []
  if (wish.before !== undefined && wish.before <= sinceKey(wish)) {
    return { entries, next: undefined }
  }
  let startKey = wish.before === undefined ? undefined : tableKeys.auditEntry(wish.before)
  for (let page = 0; page < (wish.requestsMax ?? PAGES_MAX); page += 1) {
    const { items, nextKey } = await table.queryPage(query, startKey)
    for (const item of items) {
      entries.push(readEntry(item))
      if (entries.length === wish.limit) {
        return { entries, next: entries.at(-1)?.position }
      }
    }
    if (nextKey === undefined) {
      return { entries, next: undefined }
    }
    startKey = tableKeys.auditEntry(String(nextKey.SK))
  }
  return { entries, next: startKey?.SK }
}

function sinceKey({ since = 0 }: AuditWish): string {
  return auditPosition(since, '')
}

function queryFor(wish: AuditWish): TableQuery {
  const { actor, action, targets, limit } = wish
  const ids = (targets ?? []).map((_, index) => `:target${index}`).join(', ')
  const filters = [
    ...(actor === undefined ? [] : ['contains(#actor, :actor)']),
    ...(action === undefined ? [] : ['#action = :action']),
    ...(targets === undefined ? [] : [`(#target IN (${ids}) OR #tenant IN (${ids}) OR #after.#successor IN (${ids}))`]),
  ]
  const isFiltered = filters.length > 0
  return {
    KeyConditionExpression: 'PK = :pk AND SK >= :since',
    ExpressionAttributeValues: {
      ':pk': tableKeys.auditEntry('').PK,
      ':since': sinceKey(wish),
      ...(actor === undefined ? {} : { ':actor': actor }),
      ...(action === undefined ? {} : { ':action': action }),
      ...Object.fromEntries((targets ?? []).map((target, index) => [`:target${index}`, target])),
    },
    ...(isFiltered
      ? {
          FilterExpression: filters.join(' AND '),
          ExpressionAttributeNames: {
            ...(actor === undefined ? {} : { '#actor': 'actor' }),
            ...(action === undefined ? {} : { '#action': 'action' }),
            ...(targets === undefined
              ? {}
              : { '#target': 'target', '#tenant': 'tenant', '#after': 'after', '#successor': 'replacedBy' }),
          },
        }
      : { Limit: Math.min(limit, PAGE_ITEMS_MAX) }),
    ConsistentRead: true,
    ScanIndexForward: false,
  }
}

function readEntry(item: unknown): AuditEntry {
  const { SK: position, before, after, ...entry } = auditItem.parse(item)
  return { position, ...entry, before: sorted(before), after: sorted(after) }
}

/** The table does not keep the order of fields. */
function sorted(fields: AuditEntry['before']): AuditEntry['before'] {
  return fields === null
    ? null
    : Object.fromEntries(Object.entries(fields).toSorted(([left], [right]) => left.localeCompare(right)))
}
