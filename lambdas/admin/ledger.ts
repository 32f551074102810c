import {
  type PageQuery,
  readPageLimit,
  readQueryChoice,
  readQueryTenant,
  readQueryText,
  readQueryTime,
} from '#core/admin/page-query.ts'
import type { Session } from '#core/admin/session.ts'
import { LEDGER_KINDS } from '#core/pricing/usage.ts'
import { isOfTenant } from '#core/roles.ts'
import { readApiKeyNames } from '#store/keys/api-keys.ts'
import { type LedgerPage, type LedgerPosition, readLedgerPage, readLedgerRowsOf } from './ledger-page.ts'
import { defineOperation, isoTime, requireTenant, visibleTo } from './operation.ts'
import { type LedgerRow, toLedgerEntry } from './read-ledger.ts'

/** When a row began, and its key. */
function writePosition({ beganAt, key }: LedgerPosition): string {
  return `${beganAt} ${key}`
}

function readPosition({ after }: PageQuery): LedgerPosition | undefined {
  const end = after?.indexOf(' ') ?? 0
  return after === undefined ? undefined : { beganAt: Number(after.slice(0, end)), key: after.slice(end + 1) }
}

/** Two queries at most, however many rows there are, or with `id` one request; and one read of the names of the keys. */
export const listLedger = defineOperation({
  name: 'list-ledger',
  method: 'GET',
  path: '/admin/v1/ledger',
  access: 'everyone',
  readsTenant: true,
  query: {
    tenant: readQueryTenant,
    kind: (query: PageQuery) => readQueryChoice(query, 'kind', LEDGER_KINDS),
    ...{ from: readQueryTime, to: readQueryTime, id: readQueryText },
    ...{ after: readPosition, limit: readPageLimit },
  },
  async run({ tenant, id, to: before, ...wish }, context) {
    const { table, session, nowMilliseconds } = context
    const tenantId = requireTenant(context, tenant)
    const now = nowMilliseconds()
    const page: LedgerPage =
      id === undefined
        ? await readLedgerPage(table, tenantId, { ...wish, before }, now)
        : { rows: await readLedgerRowsOf(table, tenantId, id), next: undefined, isIncomplete: false }
    const entries = page.rows.map(({ row }) => toLedgerEntry(visibleRow(session, row)))
    const names = await readApiKeyNames(
      table,
      entries.flatMap(({ key }) => key ?? []),
    )
    return {
      entries: entries.map((entry) =>
        entry.key === undefined ? entry : { ...entry, key_name: names.get(entry.key) ?? null },
      ),
      has_more: page.next !== undefined,
      next: page.next === undefined ? null : writePosition(page.next),
      as_of: isoTime(now),
      left_out: page.isIncomplete ? leftOut(tenantId) : null,
    }
  },
})

/** A row as a session may see it: a role of one tenant sees no note of an operator. */
function visibleRow(session: Session | undefined, row: LedgerRow): LedgerRow {
  const visible = visibleTo(session, row)
  return session && isOfTenant(session.role) ? { ...visible, reason: null } : visible
}

function leftOut(tenantId: string): string {
  return `grants and corrections beyond the first megabyte: npm run admin -- ledger export --tenant ${tenantId}`
}

/** Reads whole tenants because somebody asked for it: over HTTP one tenant, up to a bound, and a few times in a minute. */
export const verifyLedger = defineOperation({
  name: 'verify-ledger',
  method: 'GET',
  path: '/admin/v1/ledger/verification',
  access: 'finance',
  readsTenant: true,
  query: { tenant: readQueryTenant },
  async run({ tenant }, context) {
    const { table, session, verifications, nowMilliseconds } = context
    const end = session && verifications?.begin(session.id, nowMilliseconds())
    try {
      // Loaded when a ledger is first verified: no other operation needs the invariants.
      const { verifyByReading } = await import('./verify-ledger.ts')
      const broken = session
        ? await verifyByReading(table, requireTenant(context, tenant), { isBounded: true })
        : await verifyByReading(table, tenant)
      return { ok: broken.length === 0, broken, as_of: isoTime(nowMilliseconds()) }
    } finally {
      end?.()
    }
  },
})

/** The operations of the ledger, which read. */
export const LEDGER_READS = [listLedger, verifyLedger] as const
