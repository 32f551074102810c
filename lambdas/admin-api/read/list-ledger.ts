import * as z from 'zod/mini'
import {
  readCursor,
  readPageLimit,
  readQueryChoice,
  readQueryText,
  readQueryTime,
  writeCursor,
} from '#core/admin/page-query.ts'
import { type LedgerPage, readLedgerPage, readLedgerRowsOf } from '#lambdas/admin/ledger/ledger-page.ts'
import type { LedgerPosition } from '#lambdas/admin/ledger/placed-row.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { ledgerRow } from './ledger-row.ts'
import type { ReadContext } from './read-context.ts'
import { tenantOf, visibleRow } from './tenant-of-request.ts'

const KINDS = ['grant', 'adjust', 'reserve', 'settle', 'release'] as const

/**
 * When a row began, and its key. The key of a job or a request goes into a query, and the table refuses one that it could not have; those
 * of grants and corrections do not.
 */
const position = z.tuple([z.int(), z.string().check(z.regex(/^(?:[!-~]{1,200}$|grant#|adjust#)/))])

/**
 * GET /admin/v1/ledger: two queries at most, however many rows there are; with `id` one request.
 */
export async function listLedger(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const session = sessionOf(event)
  const { id: tenantId } = tenantOf(event)
  const query = event.queryStringParameters ?? {}
  const id = readQueryText(query, 'id')
  const wish = {
    limit: readPageLimit(query),
    kind: readQueryChoice(query, 'kind', KINDS),
    from: readQueryTime(query, 'from'),
    before: readQueryTime(query, 'to'),
    after: query.after === undefined ? undefined : positionOf(query.after),
  }
  const page: LedgerPage =
    id === undefined
      ? await readLedgerPage(table(), tenantId, wish, now())
      : { rows: await readLedgerRowsOf(table(), tenantId, id), next: undefined, isIncomplete: false }
  return {
    body: {
      object: 'list',
      data: page.rows.map((row) => visibleRow(session, ledgerRow(row))),
      has_more: page.next !== undefined,
      next: page.next === undefined ? null : writeCursor([page.next.beganAt, page.next.key]),
      as_of: Math.trunc(now() / 1000),
      left_out: page.isIncomplete ? leftOut(tenantId) : null,
    },
  }
}

function positionOf(after: string): LedgerPosition {
  const [beganAt, key] = readCursor(after, position)
  return { beganAt, key }
}

function leftOut(tenantId: string): string {
  return `grants and corrections beyond the first megabyte: npm run admin -- ledger export --tenant ${tenantId}`
}
