import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { changeTenant } from '#adapters/store/money/change-tenant.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { budgetJson, budgetText } from '../budgets/describe-budget.ts'
import { readLimit } from '../budgets/read-budget.ts'
import type { Answer } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { readTenantId, TENANT } from './read-tenant.ts'

/** Shows, sets, changes or ends the budget of a tenant. @throws StoreRefusal `not_found`, `changed_meanwhile`. */
export const tenantBudget: Command = {
  name: 'tenant budget',
  summary: 'show or change what a tenant may spend in a day, in a month or in all',
  details: `Without a change, the command shows the budget. Spent and held credits together never exceed the budget, but for an overdraft or a lowered amount. A budget begins with what the
usage counters of its period say. To count again, after a restore for example, set the same budget again.`,
  options: {
    tenant: TENANT,
    amount: { value: 'CREDITS', summary: 'what may be spent in a period, such as 100 or 0.25' },
    period: { value: 'day|month|total', summary: 'when the budget starts again, in UTC; `total`: never' },
    clear: { summary: 'end the budget' },
  },
  examples: [
    'tenant budget --tenant demo --local',
    'tenant budget --tenant demo --amount 100 --period month --local',
    'tenant budget --tenant demo --clear --json',
  ],
  async run(context, values) {
    const isChange = ['amount', 'period', 'clear'].some((option) => values.has(option))
    const limit = isChange ? readLimit(values) : undefined
    const table = await context.table()
    const tenantId = await readTenantId(context, values)
    if (limit === undefined) {
      return await showBudget(table, tenantId)
    }
    const actor = await context.actor()
    const { isChanged, isExact } = await changeTenant(table, { tenantId, settings: { budget: limit }, actor })
    if (!isChanged) {
      context.warn(`tenant ${tenantId} has this budget already: nothing was changed`)
    }
    if (!isExact) {
      context.warn('requests were settled meanwhile: the starting amount may be slightly high')
    }
    return await showBudget(table, tenantId)
  },
}

async function showBudget(table: Table, tenantId: string): Promise<Answer> {
  const { budget } = await getTenant(table, tenantId)
  const now = Date.now()
  return {
    json: { id: tenantId, budget: budgetJson(budget, now) },
    text: `tenant ${tenantId}: ${budget === null ? 'no budget' : `budget ${budgetText(budget, now)}`}`,
  }
}
