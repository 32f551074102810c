import { type ApiKeyListing, listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { Actor } from '#adapters/store/audit/audit-entry.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { RATE_PER_MINUTE_MAX } from '#core/quota/request-rate.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { unknownModels } from '../catalogue/unknown-models.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readName } from '../command-line/read-name.ts'
import { readEnd } from '../command-line/read-time.ts'
import { RATE_PER_MINUTE_DEFAULT } from '../default-limits.ts'

/** Creates a key and shows it, which happens only once. @throws TenantNotFoundError. */
export const keyCreate: Command = {
  name: 'key create',
  summary: 'create a key; it is shown only once',
  options: {
    tenant: { value: 'ID', summary: 'tenant of the key', required: true },
    name: { value: 'NAME', summary: 'name for people' },
    models: { value: 'A,B', summary: 'models that the key may use; default: all' },
    expires: {
      value: '90d|DATE',
      summary: 'expiry, such as 90d, 12h or 2027-01-31; default: never',
    },
    rate: {
      value: 'N|none',
      summary: `requests per minute, from 1 to ${RATE_PER_MINUTE_MAX}, or \`none\`; default: ${RATE_PER_MINUTE_DEFAULT}`,
    },
  },
  examples: [
    'key create --tenant demo --local',
    'key create --tenant demo --name "web shop" --models famB-1.1-t2v,chat-default --expires 90d --rate 120 --local',
  ],
  async run(context, values) {
    const wish = readWish(values, Date.now())
    const table = await context.table()
    const { id, state } = await getTenant(table, values.required('tenant'))
    if (state === 'suspended') {
      context.warn(`tenant ${id} is suspended: the key is refused until \`tenant resume\``)
    }
    for (const warning of await unknownModels(context, wish.models)) {
      context.warn(warning)
    }
    return await createKey(table, { tenant: values.required('tenant'), ...wish }, await context.actor())
  },
}

/** Lists keys by their public ids: all keys, or those of one tenant. @throws TenantNotFoundError. */
export const keyList: Command = {
  name: 'key list',
  summary: 'list the public ids of keys; keys themselves are never shown',
  options: { tenant: { value: 'ID', summary: 'only the keys of this tenant' } },
  examples: ['key list --local', 'key list --tenant demo --json'],
  async run(context, values) {
    const tenant = values.text('tenant')
    const table = await context.table()
    if (tenant !== undefined) {
      await getTenant(table, tenant)
    }
    const keys = await listApiKeys(table)
    return describeKeys(keys.filter(({ tenantId }) => tenant === undefined || tenantId === tenant))
  },
}

/** @throws ApiKeyNotFoundError. */
export const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'revoke a key: it is refused from the next request on',
  details:
    'Asks for confirmation on a terminal. Without a terminal, or with --json, it does not ask, because scripts run it without --yes.',
  options: { key: { value: 'ID', summary: 'public id of the key', required: true } },
  examples: ['key revoke --key 8fK2mQ0z', 'key revoke --key 8fK2mQ0z --json'],
  async run(context, values) {
    const key = values.required('key')
    await context.confirm(`Key ${key} will be refused permanently from the next request on`, { unattended: 'proceed' })
    await revokeApiKey(await context.table(), key, await context.actor())
    return { json: { id: key, state: 'revoked' }, text: `key ${key} is revoked from the next request on` }
  },
}

type Wish = {
  readonly models: readonly string[] | null
  readonly name: string | undefined
  /** Unix milliseconds. */
  readonly expiresAt: number | undefined
  readonly ratePerMinute: number | undefined
}

function readWish(values: CommandValues, nowMilliseconds: number): Wish {
  const expires = values.text('expires')
  return {
    models: readModels(values.text('models')),
    name: readName(values),
    expiresAt: expires === undefined ? undefined : readEnd('expires', expires, nowMilliseconds),
    ratePerMinute: readRate(values),
  }
}

/** Undefined for a key without a limit. @throws UsageError. */
function readRate(values: CommandValues): number | undefined {
  if (values.text('rate') === 'none') {
    return undefined
  }
  const ratePerMinute = values.count('rate') ?? RATE_PER_MINUTE_DEFAULT
  if (ratePerMinute > RATE_PER_MINUTE_MAX) {
    throw new UsageError(`--rate ${ratePerMinute}: use at most ${RATE_PER_MINUTE_MAX}, or none`)
  }
  return ratePerMinute
}

function readModels(text: string | undefined): readonly string[] | null {
  const models = text
    ?.split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '')
  if (models?.length === 0) {
    throw new UsageError('--models is empty: name at least one model, or omit the option for all models')
  }
  return models ?? null
}

async function createKey(
  table: Table,
  { tenant, ...wish }: Wish & { readonly tenant: string },
  actor: Actor,
): Promise<Answer> {
  const key = generateApiKey()
  const id = await storeApiKey(table, { key, tenantId: tenant, ...wish }, actor)
  return describeNewKey({ id, key, tenant, ...wish })
}

type NewKey = Wish & { readonly id: string; readonly key: string; readonly tenant: string }

/** Shows a new key. The JSON omits fields whose options were not given. */
export function describeNewKey({ id, key, tenant, models, name, expiresAt, ratePerMinute }: NewKey): Answer {
  const expires = expiresAt === undefined ? undefined : isoSeconds(expiresAt)
  const json = { id, key, tenant, models, name, expires_at: expires, rate_per_minute: ratePerMinute }
  const limits = [
    models === null ? 'all models' : models.join(', '),
    ...(expires === undefined ? [] : [`until ${expires}`]),
    ratePerMinute === undefined ? 'any number of requests' : `${ratePerMinute} requests per minute`,
  ]
  const called = name === undefined ? '' : ` "${name}"`
  return {
    json,
    text: `key ${id}${called} for tenant ${tenant}, ${limits.join(', ')}\n\n${key}\n\nIt is not shown again.`,
  }
}

function describeKeys(listings: readonly ApiKeyListing[]): Answer {
  const keys = listings.map((key) => ({
    id: key.keyId,
    tenant: key.tenantId,
    state: stateOf(key, Date.now()),
    models: key.models,
    created_at: new Date(key.createdAt).toISOString(),
    name: key.name,
    expires_at: key.expiresAt === null ? null : isoSeconds(key.expiresAt),
    rate_per_minute: key.ratePerMinute,
  }))
  const rows = keys.map((key) => [
    key.id,
    key.tenant,
    key.name,
    key.state,
    key.expires_at,
    key.rate_per_minute === null ? null : `${key.rate_per_minute}/min`,
    key.models?.join(',') ?? 'all',
    key.created_at,
  ])
  const header = ['KEY', 'TENANT', 'NAME', 'STATE', 'EXPIRES', 'RATE', 'MODELS', 'CREATED']
  return { json: { keys }, text: formatTable(header, rows) }
}

/** How requests with the key are treated. The first state that applies counts. */
export function stateOf(
  { state, suspended, expiresAt }: Pick<ApiKeyListing, 'state' | 'suspended' | 'expiresAt'>,
  nowMilliseconds: number,
): 'revoked' | 'expired' | 'suspended' | 'active' {
  if (state === 'revoked') {
    return 'revoked'
  }
  if (expiresAt !== null && expiresAt <= nowMilliseconds) {
    return 'expired'
  }
  return suspended ? 'suspended' : 'active'
}

/** As stored: truncated to whole seconds. */
function isoSeconds(milliseconds: number): string {
  return new Date(Math.floor(milliseconds / 1000) * 1000).toISOString()
}
