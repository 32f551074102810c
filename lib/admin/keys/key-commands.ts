import { getApiKey, listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { Actor } from '#adapters/store/audit/audit-entry.ts'
import { readKeyBudgets } from '#adapters/store/money/key-budget.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { BudgetLimit } from '#core/budgets.ts'
import { RATE_PER_MINUTE_DEFAULT, RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { readBudget } from '../budgets/read-budget.ts'
import { unknownModels } from '../catalogue/unknown-models.ts'
import type { Answer } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readName } from '../command-line/read-name.ts'
import { readTenantId, readTenantIdIfGiven, TENANT } from '../tenants/read-tenant.ts'
import { describeKeys, describeNewKey, type KeyWish } from './describe-key.ts'
import { findKey, KEY } from './find-key.ts'
import { readExpiry, readModels, readRate } from './read-key-limits.ts'

/** Creates a key and shows it, which happens only once. @throws StoreRefusal `not_found`. */
export const keyCreate: Command = {
  name: 'key create',
  summary: 'create a key; it is shown only once',
  options: {
    tenant: TENANT,
    name: { value: 'NAME', summary: 'name for people' },
    models: { value: 'A,B', summary: 'models that the key may use; default: all' },
    expires: { value: '90d|DATE', summary: 'expiry, such as 90d, 12h or 2027-01-31; default: never' },
    rate: {
      value: 'N|none',
      summary: `requests per minute, from 1 to ${RATE_PER_MINUTE_MAX}, or \`none\`; default: ${RATE_PER_MINUTE_DEFAULT}`,
    },
    budget: {
      value: 'N/PERIOD|none',
      summary: 'credits per day, month or total, such as 5/month, or `none`; default: none',
    },
  },
  examples: [
    'key create --tenant demo --local',
    'key create --tenant demo --name "web shop" --models famB-1.1-t2v,chat-default --expires 90d --rate 120 --budget 5/month --local',
  ],
  async run(context, values) {
    const wish = readWish(values, Date.now())
    const table = await context.table()
    const { id, state } = await getTenant(table, await readTenantId(context, values))
    if (state === 'suspended') {
      context.warn(`tenant ${id} is suspended: the key is refused until \`tenant resume\``)
    }
    for (const warning of await unknownModels(context, wish.models)) {
      context.warn(warning)
    }
    const budgetLimit = readBudget(values) ?? undefined
    return await createKey(table, { tenant: id, budgetLimit, ...wish }, await context.actor())
  },
}

type KeyToCreate = KeyWish & { readonly tenant: string; readonly budgetLimit: BudgetLimit | undefined }

async function createKey(table: Table, { tenant, budgetLimit, ...wish }: KeyToCreate, actor: Actor): Promise<Answer> {
  const key = generateApiKey()
  const id = await storeApiKey(table, { key, tenantId: tenant, budgetLimit, ...wish }, actor)
  const { listing } = await getApiKey(table, id)
  const [budget] = (await readKeyBudgets(table, [listing])).values()
  return describeNewKey({ id, key, tenant, budget, ...wish })
}

function readWish(values: CommandValues, nowMilliseconds: number): KeyWish {
  const rate = readRate(values)
  return {
    models: readModels(values) ?? null,
    name: readName(values),
    expiresAt: readExpiry(values, nowMilliseconds),
    ratePerMinute: rate === undefined ? RATE_PER_MINUTE_DEFAULT : (rate ?? undefined),
  }
}

/** Lists keys by their public ids: all keys, or those of one tenant. @throws StoreRefusal `not_found`. */
export const keyList: Command = {
  name: 'key list',
  summary: 'list the public ids of keys; keys themselves are never shown',
  options: { tenant: { value: 'ID|NAME', summary: 'only the keys of this tenant' } },
  examples: ['key list --local', 'key list --tenant demo --json'],
  async run(context, values) {
    const tenant = await readTenantIdIfGiven(context, values)
    const table = await context.table()
    const keys = await listApiKeys(table)
    const shown = keys.filter(({ tenantId }) => tenant === undefined || tenantId === tenant)
    return describeKeys(shown, await readKeyBudgets(table, shown))
  },
}

/** @throws StoreRefusal `not_found`. */
export const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'revoke a key: it is refused from the next request on',
  details:
    'Asks for confirmation on a terminal. Without a terminal, or with --json, it does not ask, because scripts run it without --yes.',
  options: { key: KEY },
  examples: ['key revoke --key 8fK2mQ0z', 'key revoke --key 8fK2mQ0z --json'],
  async run(context, values) {
    const table = await context.table()
    const { keyId: key } = await findKey(table, values.required('key'))
    await context.confirm(`Key ${key} will be refused permanently from the next request on`, { unattended: 'proceed' })
    await revokeApiKey(table, key, await context.actor())
    return { json: { id: key, state: 'revoked' }, text: `key ${key} is revoked from the next request on` }
  },
}
