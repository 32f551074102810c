import { listTenantIds } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { recordEffect } from '../audit/record-effect.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { readTenantIdIfGiven } from '../tenants/read-tenant.ts'
import { backfillUsage } from './backfill-usage.ts'

/** Rows between two lines of progress. */
const PROGRESS_ROWS = 9_000

/** Counts settlements of older versions. */
export const usageBackfill: Command = {
  name: 'usage backfill',
  summary: 'count settlements that version 0.2.0 wrote, each once; can be repeated at any time',
  details: `Run it after an upgrade from version 0.2.0, when its last function has ended. Rows are marked in the transaction that counts them, so
the command may be interrupted and run again, also beside live traffic. What a row does not say is counted as \`unknown\`.`,
  options: { tenant: { value: 'ID|NAME', summary: 'only this tenant' } },
  examples: ['usage backfill --stage prod', 'usage backfill --tenant demo --local'],
  async run(context, values) {
    const table = await context.table()
    const only = await readTenantIdIfGiven(context, values)
    const tenants: { tenant: string; counted: number }[] = []
    for (const tenant of only === undefined ? await listTenantIds(table) : [only]) {
      tenants.push({ tenant, counted: await countTenant(context, table, tenant) })
    }
    const total = tenants.reduce((sum, { counted }) => sum + counted, 0)
    const lines = tenants.filter(({ counted }) => counted > 0).map(({ tenant, counted }) => `${tenant}: ${counted}`)
    const last = `${total} ${total === 1 ? 'settlement' : 'settlements'} counted`
    return { json: { counted: total, tenants }, text: [...lines, last].join('\n') }
  },
}

async function countTenant(context: AdminContext, table: Table, tenant: string): Promise<number> {
  let counted = 0
  let told = 0
  try {
    for await (const rows of backfillUsage(table, tenant)) {
      counted += rows
      if (!context.json && counted - told >= PROGRESS_ROWS) {
        told = counted
        await context.write(`${tenant}: ${counted} so far\n`)
      }
    }
    return counted
  } finally {
    if (counted > 0) {
      await recordBackfill(context, tenant, counted)
    }
  }
}

/**
 * One entry for many transactions, written after them: only then the number is known, and each row carries its own mark. A count that an
 * error ended is recorded too.
 */
async function recordBackfill(context: AdminContext, tenantId: string, settlements: number): Promise<void> {
  const target = { kind: 'tenant', id: tenantId } as const
  await recordEffect(context, { action: 'usage backfill', target, before: null, after: { settlements } })
}
