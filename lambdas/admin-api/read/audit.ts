import { readPageLimit, readQueryText, readQueryTime } from '#core/admin/page-query.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { auditPosition } from '#store/audit/audit-entry.ts'
import { type AuditEntry, readAudit } from '#store/audit/read-audit.ts'
import type { ReadContext } from './read-context.ts'

/** GET /admin/v1/audit: one or two queries; a search for something rare goes on on the next page. */
export async function listAudit(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const query = event.queryStringParameters ?? {}
  const until = readQueryTime(query, 'until')
  const target = readQueryText(query, 'target')
  const after = readQueryText(query, 'after')
  const ends = [...(until === undefined ? [] : [auditPosition(until, '')]), ...(after === undefined ? [] : [after])]
  const { entries, next } = await readAudit(table(), {
    limit: readPageLimit(query),
    since: readQueryTime(query, 'since'),
    before: ends.toSorted()[0],
    actor: readQueryText(query, 'actor'),
    action: readQueryText(query, 'action'),
    targets: target === undefined ? undefined : [target],
    requestsMax: 2,
  })
  return {
    body: {
      object: 'list',
      data: entries.map(entryView),
      has_more: next !== undefined,
      next: next ?? null,
      as_of: Math.trunc(now() / 1000),
    },
  }
}

function entryView({ position, at, actor, role, action, kind, target, tenant, before, after, requestId }: AuditEntry) {
  return {
    id: position,
    at: Math.trunc(at / 1000),
    actor,
    role,
    action,
    target: { kind, id: target },
    tenant,
    before,
    after,
    request_id: requestId,
  }
}
