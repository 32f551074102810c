import { readPageLimit, readQueryText } from '#core/admin/page-query.ts'
import type { Budget } from '#core/budgets.ts'
import { keyView } from '#lambdas/admin/keys/key-view.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { readKeyBudget } from '#store/budgets.ts'
import { listApiKeyPage } from '#store/keys/api-keys.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { ReadableTable, ReadContext } from './read-context.ts'
import { tenantIdIfGiven } from './tenant-of-request.ts'

/** DynamoDB's bound of one read of several items, which reads the budgets of a page. */
const KEYS_MAX = 100

/** GET /admin/v1/keys: one query, and one read of the budgets of the page. */
export async function listKeys(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const query = event.queryStringParameters ?? {}
  const limit = Math.min(readPageLimit(query), KEYS_MAX)
  const wish = { limit, tenantId: tenantIdIfGiven(event), after: readQueryText(query, 'after') }
  const { keys, next } = await listApiKeyPage(table(), wish)
  const budgets = await readBudgets(table(), [...new Set(keys.flatMap(({ budget }) => budget?.id ?? []))])
  return {
    body: {
      object: 'list',
      data: keys.map((key) => keyView(key, budgets.get(key.budget?.id ?? ''), now())),
      has_more: next !== undefined,
      next: next ?? null,
      as_of: Math.trunc(now() / 1000),
    },
  }
}

async function readBudgets(table: ReadableTable, ids: readonly string[]): Promise<ReadonlyMap<string, Budget>> {
  const items = ids.length === 0 ? [] : await table.readItems(ids.map(tableKeys.keyBudget))
  return new Map(
    ids.flatMap((id, index) => {
      const item = items[index]
      return item === undefined ? [] : [[id, readKeyBudget(item)] as const]
    }),
  )
}
