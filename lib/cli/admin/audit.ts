import * as z from 'zod'
import { isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { auditEntryJson, listAudit } from '#lambdas/admin/audit.ts'
import { type NewAuditEntry, recordAudit } from '#store/audit/audit-entry.ts'
import { type AuditEntry, type AuditWish, readAudit } from '#store/audit/read-audit.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import type { Table } from '#store/table/table.ts'
import { listTenantNames } from '#store/tenants/tenants.ts'
import { csvLine, formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, Command, CommandValues } from './command.ts'
import { documentOperation } from './document.ts'
import { readStart } from './read-options.ts'

const fields = z.record(z.string(), z.unknown()).nullable()

const entry = z.strictObject({
  id: z.string(),
  at: isoTimeField,
  actor: z.string(),
  role: z.string(),
  action: z.string().describe('Such as `key revoke`.'),
  kind: z.string().describe('Of the target, such as `key`.'),
  target: z.string().describe('Its id.'),
  tenant: z.string().nullable().describe('The tenant that the target is, or belongs to.'),
  before: fields.describe('Null for something that did not exist before.'),
  after: fields.describe('Null for something that does not exist any more.'),
  request_id: z.string().nullable(),
})

/** The operation of the audit log, as people read about it. */
export const listAuditDocument = documentOperation(listAudit, {
  summary: 'show who changed what, newest first',
  returns: 'Effects, newest first.',
  output: z.strictObject({ entries: z.array(entry), ...pageFields }),
})

/** The part of the response that has a name of its own in `admin-openapi.json`. */
export const AUDIT_SCHEMAS = { AuditEntry: entry }

/**
 * The change of an entry in one line: `state active -> suspended, reason fraud`. Fields that are the same before and after are left out; a
 * null in both is no field.
 */
export function describeChange({ kind, before, after }: Pick<AuditEntry, 'kind' | 'before' | 'after'>): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names]
    .flatMap((name) => {
      const [old, current] = [before?.[name], after?.[name]].map((value) => show(value, wordForNull(kind, name)))
      if (old === current) {
        return []
      }
      return [before?.[name] === undefined ? `${name} ${current}` : `${name} ${old} -> ${current}`]
    })
    .join(', ')
}

/** Null models are all models, and a switch that is not set leaves the decision to the configuration. */
function wordForNull(kind: string, name: string): string {
  if (name === 'models') {
    return 'all'
  }
  return kind === 'channel' || kind === 'model' ? 'as configured' : 'none'
}

function show(value: unknown, wordForNothing: string): string {
  if (value === undefined) {
    return 'none'
  }
  if (value === null) {
    return wordForNothing
  }
  return Array.isArray(value) ? value.join('+') : String(value)
}

const LIMIT_DEFAULT = 50

/** Entries per reading of an export. */
const EXPORTED_AT_ONCE = 1_000

/** The order never changes; new columns come last. */
const COLUMNS = ['at', 'actor', 'role', 'action', 'kind', 'target', 'tenant', 'before', 'after', 'request_id']

/** Shows who did what, newest first. */
export const audit: Command = {
  name: 'audit',
  summary: listAuditDocument.summary,
  details: `Every command with an effect writes one entry, in the transaction of the effect where there is one. Entries are never changed or
deleted, and hold no key and no secret.`,
  options: {
    since: { value: '24h|DATE', summary: 'entries since then, such as 24h, 7d or 2026-11-01' },
    actor: { value: 'NAME', summary: 'entries whose actor contains this, such as the end of an ARN' },
    target: {
      value: 'ID|NAME',
      summary: 'entries of this tenant, its keys and jobs, or of this key, job, secret, channel or model',
    },
    csv: { summary: `write CSV, all entries unless --limit is given: ${COLUMNS.join(', ')}` },
    limit: { value: 'N', summary: `maximum number of entries; default: ${LIMIT_DEFAULT}` },
  },
  examples: [
    'audit --local',
    'audit --since 7d --target demo --local',
    'audit --actor alice --stage prod --json',
    'audit --since 2026-11-01 --csv --stage prod > audit.csv',
  ],
  async run(context, values) {
    const table = await context.table()
    const wish = await readWish(table, values)
    return values.has('csv')
      ? await exportEntries(context, table, { ...wish, limit: values.count('limit') ?? Number.POSITIVE_INFINITY })
      : await listEntries(context, table, { ...wish, limit: values.count('limit') ?? LIMIT_DEFAULT })
  },
}

async function readWish(table: Table, values: CommandValues): Promise<Omit<AuditWish, 'limit'>> {
  const [since, actor, target] = [values.text('since'), values.text('actor'), values.text('target')]
  return {
    since: since === undefined ? undefined : readStart('since', since, Date.now()),
    actor,
    targets: target === undefined ? undefined : await findTargets(table, target),
  }
}

/** Fits into the condition of one query. */
const TARGETS_MAX = 50

/** An id, or the ids of every tenant and key with a name: a search may find more than one target. @throws UsageError for too many. */
async function findTargets(table: Table, idOrName: string): Promise<readonly string[]> {
  const [allTenants, allKeys] = await Promise.all([listTenantNames(table), listApiKeys(table)])
  const tenants = allTenants.filter(({ name }) => name === idOrName)
  const keys = allKeys.filter(({ name }) => name === idOrName)
  const targets = [...new Set([idOrName, ...tenants.map(({ id }) => id), ...keys.map(({ keyId }) => keyId)])]
  if (targets.length > TARGETS_MAX) {
    throw new UsageError(`--target ${idOrName}: ${targets.length - 1} tenants and keys have this name; use an id`)
  }
  return targets
}

async function listEntries(context: AdminContext, table: Table, wish: AuditWish): Promise<Output> {
  const { entries, next } = await readAudit(table, wish)
  if (next !== undefined && entries.length < wish.limit) {
    context.warn('not every entry was searched: name a shorter time with --since, or use --csv, which reads everything')
  }
  const shown = entries.map(auditEntryJson)
  const rows = shown.map((entry) => [entry.at, entry.actor, entry.action, entry.target, describeChange(entry)])
  return {
    json: { entries: shown },
    text: rows.length === 0 ? 'no entries' : formatTable(['AT', 'ACTOR', 'ACTION', 'TARGET', 'CHANGE'], rows),
  }
}

/** Reads on until the end, whatever one reading leaves out. */
async function exportEntries(context: AdminContext, table: Table, wish: AuditWish): Promise<Output> {
  await context.write(csvLine(COLUMNS))
  let left = wish.limit
  let before: string | undefined
  do {
    const limit = Math.min(left, EXPORTED_AT_ONCE)
    const { entries, next } = await readAudit(table, { ...wish, limit, before })
    await context.write(entries.map(toCsvLine).join(''))
    left -= entries.length
    before = next
  } while (before !== undefined && left > 0)
  // All output has been written already.
  return { json: undefined, text: '' }
}

function toCsvLine(entry: AuditEntry): string {
  const { id: _, ...cells } = auditEntryJson(entry)
  return csvLine(
    Object.values(cells).map((cell) => (cell === null ? '' : typeof cell === 'object' ? JSON.stringify(cell) : cell)),
  )
}

/**
 * Records an effect outside of the table, such as a change of a secret, which no transaction can join. A change that cannot be undone or
 * seen afterwards is recorded before it is made, so that it never happens without an entry; after a crash in between, the entry stands
 * for an attempt. A change that somebody else may refuse is recorded after it was made.
 * @throws ServiceUnavailableError, DeploymentNotFoundError, CommandFailedError.
 */
export async function recordEffect(
  context: Pick<AdminContext, 'table' | 'actor'>,
  effect: Omit<NewAuditEntry, 'actor' | 'at'>,
): Promise<void> {
  await recordAudit(await context.table(), { ...effect, actor: await context.actor(), at: Date.now() })
}
