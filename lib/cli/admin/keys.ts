import { type Budget, type BudgetLimit, budgetAt, formatBudgetLimit } from '#core/budgets.ts'
import { RATE_PER_MINUTE_DEFAULT, RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { formatCredits } from '#core/money.ts'
import { endAfterRotation, requireUsable, rotateKey, stateOf } from '#lambdas/admin/keys.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import { planKeyBudget, readKeyBudgets } from '#store/key-budgets.ts'
import { type ApiKeyListing, getApiKey, listApiKeys, revokeApiKey } from '#store/keys/api-keys.ts'
import { generateApiKey, type KeySettings, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { formatTable, type Output } from '../output.ts'
import { nearestName, UsageError } from '../terminal.ts'
import { budgetJson, budgetText, readBudget } from './budgets.ts'
import { readDeployedConfig } from './catalogue.ts'
import type { Command, CommandOption, CommandValues } from './command.ts'
import {
  OVERLAP_DEFAULT,
  readEnd,
  readName,
  readOverlap,
  readTenantId,
  readTenantIdIfGiven,
  TENANT,
} from './read-options.ts'

/**
 * One warning per model that the deployed configuration does not have. The next deployment may add the model, so it is not an error.
 * Empty if the configuration cannot be read.
 */
export async function unknownModels(
  context: Parameters<typeof readDeployedConfig>[0],
  models: readonly string[] | null,
): Promise<string[]> {
  if (models === null) {
    return []
  }
  const config = await readDeployedConfig(context).catch(() => undefined)
  const known = config?.models.map(({ id }) => id) ?? models
  return models
    .filter((model) => !known.includes(model))
    .map((model) => {
      const nearest = nearestName(model, known)
      return `the deployed configuration has no model ${model}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}

/** What a new key may do. */
export type KeyWish = {
  /** Null for all models. */
  readonly models: readonly string[] | null
  readonly name: string | undefined
  /** Unix milliseconds; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
  /** Undefined for a key without a limit. */
  readonly ratePerMinute: number | undefined
}

type NewKey = KeyWish & {
  readonly id: string
  readonly key: string
  readonly tenant: string
  readonly budget: Budget | undefined
}

/** Shows a new key. The JSON omits fields whose options were not given. */
export function describeNewKey({ id, key, tenant, budget, ...wish }: NewKey): Output {
  const { models, name, expiresAt, ratePerMinute } = wish
  const expires = expiresAt === undefined ? undefined : isoSeconds(expiresAt)
  const json = {
    ...{ id, key, tenant, models, name, expires_at: expires, rate_per_minute: ratePerMinute },
    ...(budget === undefined ? {} : { budget: budgetJson(budget, Date.now()) }),
  }
  const limits = [
    models === null ? 'all models' : models.join(', '),
    ...(expires === undefined ? [] : [`until ${expires}`]),
    ratePerMinute === undefined ? 'any number of requests' : `${ratePerMinute} requests per minute`,
    ...(budget === undefined ? [] : [`budget ${budgetText(budget, Date.now())}`]),
  ]
  const called = name === undefined ? '' : ` "${name}"`
  return {
    json,
    text: `key ${id}${called} for tenant ${tenant}, ${limits.join(', ')}\n\n${key}\n\nIt is not shown again.`,
  }
}

/** Keys as a list, without the keys themselves. @param budgets by their ids. */
export function describeKeys(listings: readonly ApiKeyListing[], budgets: ReadonlyMap<string, Budget>): Output {
  const described = listings.map((listing) => {
    const budget = listing.budget === null ? undefined : budgets.get(listing.budget.id)
    const key = keyRow(listing, budget)
    const row = [
      key.id,
      key.tenant,
      key.name,
      key.state,
      key.expires_at,
      key.rate_per_minute === null ? null : `${key.rate_per_minute}/min`,
      ...(listing.budget === null ? [null, null] : budgetColumns(budget)),
      key.models?.join(',') ?? 'all',
      key.created_at,
    ]
    return { key, row }
  })
  const keys = described.map(({ key }) => key)
  const rows = described.map(({ row }) => row)
  const header = ['KEY', 'TENANT', 'NAME', 'STATE', 'EXPIRES', 'RATE', 'BUDGET', 'LEFT', 'MODELS', 'CREATED']
  return { json: { keys }, text: formatTable(header, rows) }
}

/** The limit of the budget that a key names, and what is left of it. */
function budgetColumns(budget: Budget | undefined): readonly [string, string | null] {
  if (budget === undefined) {
    return ['missing', null]
  }
  const { amount, period, left } = budgetAt(budget, Date.now())
  return [formatBudgetLimit({ amount, kind: period.kind }), formatCredits(left)]
}

/** A key as one object of a list. */
export function keyRow(key: ApiKeyListing, budget: Budget | undefined) {
  return {
    id: key.keyId,
    tenant: key.tenantId,
    state: stateOf(key, Date.now()),
    models: key.models,
    created_at: new Date(key.createdAt).toISOString(),
    name: key.name,
    expires_at: key.expiresAt === null ? null : isoSeconds(key.expiresAt),
    rate_per_minute: key.ratePerMinute,
    budget: budgetJson(budget ?? null, Date.now()),
  }
}

/** A time of a key as it is stored: truncated to whole seconds. */
export function isoSeconds(milliseconds: number): string {
  return new Date(Math.floor(milliseconds / 1000) * 1000).toISOString()
}

/** The option that names a key. */
export const KEY = {
  value: 'ID|NAME',
  summary: 'the key, by its public id or by a name that no other usable key has',
  required: true,
} as const satisfies CommandOption

/**
 * A key by its public id, with one read, or by its name, with a query of all keys. An id counts before a name. A successor has the name of
 * the key that it replaced, so of several keys with a name, the one that can still be used is meant.
 * @throws StoreRefusal `not_found`; UsageError for a name of several keys, with their ids.
 */
export async function findKey(table: Table, idOrName: string): Promise<ApiKeyListing> {
  const withId = await readKey(table, idOrName)
  if (withId !== undefined) {
    return withId
  }
  const named = (await listApiKeys(table)).filter(({ name }) => name === idOrName)
  const usable = named.filter((key) => ['active', 'suspended'].includes(stateOf(key, Date.now())))
  const [found, ...others] = usable.length > 0 ? usable : named
  if (found === undefined) {
    throw new StoreRefusal('not_found', `no key ${idOrName}`)
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ keyId, tenantId }) => `${keyId} of tenant ${tenantId}`).join(', ')
    throw new UsageError(`--key ${idOrName}: ${others.length + 1} keys have this name; use the id: ${ids}`)
  }
  return found
}

async function readKey(table: Table, keyId: string): Promise<ApiKeyListing | undefined> {
  try {
    return (await getApiKey(table, keyId)).listing
  } catch (error) {
    if (isRefusal(error, 'not_found')) {
      return undefined
    }
    throw error
  }
}

/** The models in `--models`; undefined if the option was not given. @throws UsageError for an empty list. */
export function readModels(values: CommandValues): readonly string[] | undefined {
  const models = values
    .text('models')
    ?.split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '')
  if (models?.length === 0) {
    throw new UsageError('--models is empty: name at least one model')
  }
  return models
}

/** The requests per minute in `--rate`; null for `none`, undefined if the option was not given. @throws UsageError. */
export function readRate(values: CommandValues): number | null | undefined {
  if (values.text('rate') === 'none') {
    return null
  }
  const ratePerMinute = values.count('rate')
  if (ratePerMinute !== undefined && ratePerMinute > RATE_PER_MINUTE_MAX) {
    throw new UsageError(`--rate ${ratePerMinute}: use at most ${RATE_PER_MINUTE_MAX}, or none`)
  }
  return ratePerMinute
}

/** The time in `--expires`, in Unix milliseconds; undefined if the option was not given. @throws UsageError. */
export function readExpiry(values: CommandValues, nowMilliseconds: number): number | undefined {
  const expires = values.text('expires')
  return expires === undefined ? undefined : readEnd('expires', expires, nowMilliseconds)
}

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

async function createKey(table: Table, { tenant, budgetLimit, ...wish }: KeyToCreate, actor: Actor): Promise<Output> {
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

/** Replaces a key by a new one; the old key keeps working for the overlap. @throws StoreRefusal `not_found`. */
export const keyRotate: Command = {
  name: 'key rotate',
  summary: 'replace a key; the old one keeps working for the overlap',
  details: `The new key has the tenant, name, models, rate, budget and lifetime of the old one and is shown this once. A second
rotation of a key asks first. The end of the old key never moves later.
Both are written at once or not at all.`,
  options: {
    key: KEY,
    overlap: {
      value: '24h',
      summary: `how long the old key keeps working, such as 1h or 7d; default: ${OVERLAP_DEFAULT}`,
    },
    expires: { value: '90d|DATE', summary: 'expiry of the new key; default: the lifetime of the old one' },
  },
  examples: ['key rotate --key 8fK2mQ0z --overlap 24h', 'key rotate --key 8fK2mQ0z --overlap 0s --expires 90d --json'],
  async run(context, values) {
    const overlap = readOverlap(values.text('overlap'))
    const expires = values.text('expires')
    const wished = expires === undefined ? undefined : readEnd('expires', expires, Date.now())
    const table = await context.table()
    const old = await findKey(table, values.required('key'))
    const now = Date.now()
    requireUsable(old, now)
    const end = endAfterRotation(old)
    if (end !== undefined) {
      await context.confirm(`Key ${old.keyId} was rotated before and ends at ${new Date(end).toISOString()}`)
    }
    const rotation = {
      actor: await context.actor(),
      overlapMilliseconds: overlap,
      endsAt: wished,
      nowMilliseconds: now,
    }
    const { id, key, limits, oldEndsAt } = await rotateKey(table, old, rotation)
    const [budget] = (await readKeyBudgets(table, [old])).values()
    const { json, text } = describeNewKey({ id, key, tenant: old.tenantId, budget, ...limits })
    const ends = isoSeconds(oldEndsAt)
    return {
      json: { ...Object(json), replaces: old.keyId, old_expires_at: ends },
      text: `${text}\nKey ${old.keyId} works until ${ends}.`,
    }
  },
}
