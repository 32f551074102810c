import { readPageLimit, readQueryText, readQueryTime } from '#core/admin/page-query.ts'
import { auditPosition } from '#store/audit/audit-entry.ts'
import { type AuditEntry, readAudit } from '#store/audit/read-audit.ts'
import { defineOperation, isoTime } from './operation.ts'

/** An entry of the audit log as operations show it. */
export function auditEntryJson({ position, at, requestId, ...entry }: AuditEntry) {
  const { actor, role, action, kind, target, tenant, before, after } = entry
  return {
    ...{ id: position, at: isoTime(at) },
    ...{ actor, role, action, kind, target, tenant, before, after },
    request_id: requestId,
  }
}

/** One or two queries; a search for something rare goes on on the next page. */
export const listAudit = defineOperation({
  name: 'list-audit',
  method: 'GET',
  path: '/admin/v1/audit',
  access: 'viewer',
  query: {
    since: readQueryTime,
    until: readQueryTime,
    ...{ actor: readQueryText, target: readQueryText, action: readQueryText },
    ...{ after: readQueryText, limit: readPageLimit },
  },
  async run({ since, until, actor, target, action, after, limit }, { table, nowMilliseconds }) {
    const ends = [...(until === undefined ? [] : [auditPosition(until, '')]), ...(after === undefined ? [] : [after])]
    const { entries, next } = await readAudit(table, {
      ...{ limit, since, actor, action },
      before: ends.toSorted()[0],
      targets: target === undefined ? undefined : [target],
      requestsMax: 2,
    })
    return {
      entries: entries.map(auditEntryJson),
      has_more: next !== undefined,
      next: next ?? null,
      as_of: isoTime(nowMilliseconds()),
    }
  },
})

/** The operations that read the audit log, in the order of the documents. */
export const AUDIT_READS = [listAudit] as const
