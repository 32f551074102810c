import { type KeySettings, setApiKey } from '#adapters/store/accounts/key-settings.ts'
import { planKeyBudget, readKeyBudgets } from '#adapters/store/money/key-budget.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { budgetText } from '../budgets/describe-budget.ts'
import { readBudget } from '../budgets/read-budget.ts'
import { unknownModels } from '../catalogue/unknown-models.ts'
import { formatTable } from '../command-line/answer.ts'
import type { Command, CommandOption } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readName } from '../command-line/read-name.ts'
import { keyRow } from './describe-key.ts'
import { findKey, KEY } from './find-key.ts'
import { readExpiry, readModels, readRate } from './read-key-limits.ts'

/** The settings that the command can change. */
const SETTINGS = {
  name: { value: 'NAME', summary: 'name for people; an empty one removes it' },
  models: { value: 'A,B|all', summary: 'models that the key may use, or `all`' },
  rate: { value: 'N|none', summary: `requests per minute, from 1 to ${RATE_PER_MINUTE_MAX}, or \`none\`` },
  expires: { value: '90d|DATE|none', summary: 'expiry, such as 90d, 12h or 2027-01-31, or `none`' },
  budget: { value: 'N/PERIOD|none', summary: 'credits per day, month or total, such as 5/month, or `none`' },
} as const satisfies Record<string, CommandOption>

/** Changes a key. @throws StoreRefusal `not_found`, `key_unusable`, `changed_meanwhile`. */
export const keySet: Command = {
  name: 'key set',
  summary: 'change the name, models, rate, expiry or budget of a key; the change holds from the next request on',
  details: `Options that are left out stay as they are. A revoked key cannot be changed. A key that has expired works again with a later
expiry. Requests that run finish as they began. A new budget begins with what the usage counters of its period say; requests that are open at
that moment never count in it. A key and its successors share one budget, which changes for all of them; \`none\` takes this key alone out. The
limit that a budget has counts it again.`,
  options: { key: KEY, ...SETTINGS },
  examples: [
    'key set --key 8fK2mQ0z --models chat-default --rate 30 --local',
    'key set --key "web shop" --expires 2027-01-31 --name shop --stage prod',
    'key set --key 8fK2mQ0z --budget 5/month --local',
    'key set --key 8fK2mQ0z --models all --rate none --expires none --json',
  ],
  async run(context, values) {
    const table = await context.table()
    const settings = readSettings(values, { table, nowMilliseconds: Date.now() })
    const { keyId } = await findKey(table, values.required('key'))
    for (const warning of await unknownModels(context, settings.models ?? null)) {
      context.warn(warning)
    }
    const { key, isChanged } = await setApiKey(table, { keyId, settings, actor: await context.actor() })
    if (!isChanged) {
      context.warn(`key ${keyId} has these settings already: nothing was changed`)
    }
    const [budget] = (await readKeyBudgets(table, [key])).values()
    const json = keyRow(key, budget)
    const shown = {
      ...json,
      models: json.models?.join(',') ?? 'all',
      rate_per_minute: rateText(json.rate_per_minute),
      budget: budget === undefined ? null : budgetText(budget, Date.now()),
    }
    return { json, text: formatTable([], Object.entries(shown)) }
  },
}

function readSettings(
  values: CommandValues,
  { table, nowMilliseconds }: { readonly table: Table; readonly nowMilliseconds: number },
): KeySettings {
  const name = readName(values)
  const [models, rate] = [values.text('models') === 'all' ? null : readModels(values), readRate(values)]
  const expiresAt = values.text('expires') === 'none' ? null : readExpiry(values, nowMilliseconds)
  const budget = readBudget(values)
  const settings: KeySettings = {
    ...(name === undefined ? {} : { name: name === '' ? null : name }),
    ...(models === undefined ? {} : { models }),
    ...(rate === undefined ? {} : { ratePerMinute: rate }),
    // As stored: whole seconds.
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === null ? null : Math.floor(expiresAt / 1000) * 1000 }),
    ...(budget === undefined ? {} : { budget: planKeyBudget(table, budget) }),
  }
  if (Object.keys(settings).length === 0) {
    throw new UsageError(
      `nothing to change: use ${Object.keys(SETTINGS)
        .map((option) => `--${option}`)
        .join(', ')}`,
    )
  }
  return settings
}

function rateText(ratePerMinute: number | null): string | null {
  return ratePerMinute === null ? null : String(ratePerMinute)
}
