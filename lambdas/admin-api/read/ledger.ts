import * as z from 'zod/mini'
import {
  readCursor,
  readPageLimit,
  readQueryChoice,
  readQueryText,
  readQueryTime,
  writeCursor,
} from '#core/admin/page-query.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { usageView } from '#core/pricing/usage.ts'
import {
  type LedgerPage,
  type LedgerPosition,
  type PlacedRow,
  readLedgerPage,
  readLedgerRowsOf,
} from '#lambdas/admin/ledger-page.ts'
import type { LedgerRow } from '#lambdas/admin/read-ledger.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { type ReadContext, tenantOf, visibleRow } from './read-context.ts'

/** A row of the ledger as a list shows it. Times in Unix seconds. */
export function ledgerRow({ row, beganAt, key }: PlacedRow) {
  const isOfRequest = row.job !== null
  return {
    at: Math.trunc(row.at / 1000),
    began_at: Math.trunc(beganAt / 1000),
    kind: row.kind,
    id: row.job ?? row.id ?? key,
    amount: formatCredits(effectOnAvailable(row) as Microcredits),
    reserved: isOfRequest ? formatCredits(row.amount) : null,
    actual: row.actual === null ? null : formatCredits(row.actual),
    estimated: row.isEstimated,
    model: row.model,
    operation: row.operation,
    key: row.keyId,
    channel: row.channel,
    usage: row.usage === null ? null : usageView(row.usage),
    reference: row.id,
    reason: row.reason,
  }
}

/**
 * How a row changed what is available. The rows of a job add up to minus its bill; the one row of a relayed request stands for its
 * reservation too.
 */
function effectOnAvailable({ kind, amount, actual, isOfRequest }: LedgerRow): bigint {
  switch (kind) {
    case 'grant':
    case 'adjust':
      return amount
    case 'reserve':
      return -amount
    case 'settle':
      return (isOfRequest ? 0n : amount) - (actual ?? 0n)
    case 'release':
      return isOfRequest ? 0n : amount
    default:
      return kind satisfies never
  }
}

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

/** GET /admin/v1/ledger/verification: reads the whole tenant, up to a bound, because somebody asked for it. */
export async function verifyTenantLedger(event: ApiEvent, context: ReadContext): Promise<AdminResponse> {
  const { now, verifications } = context
  const end = verifications.begin(sessionOf(event).id, now())
  try {
    return await verify(tenantOf(event).id, context)
  } finally {
    end()
  }
}

/** @throws InvalidRequestError for a tenant that is too large. */
async function verify(tenant: string, { table, now }: ReadContext): Promise<AdminResponse> {
  // Loaded when a ledger is first verified: no other operation needs the invariants.
  const { TenantTooLargeError, verifyBounded } = await import('#lambdas/admin/verify-ledger.ts')
  try {
    const { broken, rows } = await verifyBounded(table(), tenant)
    return {
      body: {
        object: 'ledger.verification',
        tenant,
        ok: broken.length === 0,
        broken,
        checked_at: Math.trunc(now() / 1000),
        rows,
      },
    }
  } catch (error) {
    if (error instanceof TenantTooLargeError) {
      const message = `the tenant is too large to be verified here: npm run admin -- ledger verify --tenant ${tenant}`
      throw new InvalidRequestError([{ path: 'tenant', message }])
    }
    throw error
  }
}
