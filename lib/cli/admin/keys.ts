import * as z from 'zod'
import { amountField, isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { PERIOD_KINDS } from '#core/budgets.ts'
import { RATE_PER_MINUTE_DEFAULT, RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { meant } from '#core/nearest-name.ts'
import { getKey, type keyJson, listKeys, stateOf } from '#lambdas/admin/keys.ts'
import {
  changeKey,
  createKey,
  createPlaygroundKey,
  endAfterRotation,
  requireUsable,
  restoreKey,
  revokeKey,
  rotateKey,
} from '#lambdas/admin/keys.writes.ts'
import { type ApiKeyListing, getApiKey, listApiKeys } from '#store/keys/api-keys.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { formatTable } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { budgetLine, limitLine, readBudget } from './budgets.ts'
import type { Command } from './command.ts'
import { documentOperation } from './document.ts'
import { commandOf, type FieldOption } from './operation-command.ts'
import { findTenantId, OVERLAP, readEnd, readName, TENANT } from './read-options.ts'

/** A budget of a tenant or a key, as it counts now. */
export const budget = z.strictObject({
  amount: amountField.describe('What may be spent in one period.'),
  period: z.enum(PERIOD_KINDS).describe('In UTC. `total` never starts again.'),
  spent: amountField.describe('Settled in this period.'),
  held: amountField.describe('Reserved now.'),
  left: amountField.describe('What is neither spent nor held. Negative after an overdraft or a lowered amount.'),
  resets_at: isoTimeField.nullable().describe('When the next period begins; null for `total`.'),
})

/** An API key, never the key itself. */
const keyRow = z.strictObject({
  id: z.string().describe('Public id.'),
  tenant: z.string().describe('Id of the tenant.'),
  state: z.enum(['active', 'revoked', 'expired', 'suspended']).describe('The first one that applies.'),
  models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
  created_at: isoTimeField,
  name: z.string().nullable(),
  expires_at: isoTimeField.nullable(),
  rate_per_minute: z.int().nullable().describe('Null for no limit.'),
  budget: budget.nullable(),
  budget_missing: z
    .boolean()
    .optional()
    .describe('True while its budget is gone from the table, and all of its requests are refused.'),
  budget_id: z
    .string()
    .optional()
    .describe('By which alerts and `ledger verify` name its budget. Left out where it is the id of the key.'),
  issuer: z.string().optional().describe('Whose tokens stand for the key. Left out for an API key.'),
  subject: z.string().optional().describe('The subject of those tokens.'),
  rule: z.string().optional().describe('The rule of the configuration that it met last.'),
})

const key = z.string().describe('The key itself. It is not shown again.')

const newKey = z.strictObject({
  id: z.string().describe('Public id.'),
  key,
  tenant: z.string().describe('Id of the tenant.'),
  models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
  name: z.string().optional(),
  expires_at: isoTimeField.optional().describe('Left out for a key that does not expire.'),
  rate_per_minute: z.int().optional().describe('Left out for no limit.'),
  budget: budget.optional(),
})

/** The operations of keys, as people read about them. */
export const KEY_DOCUMENTS = {
  listKeys: documentOperation(listKeys, {
    summary: 'list the public ids of keys; keys themselves are never shown',
    description: 'Of all tenants, or with `tenant` of one.',
    returns: 'Keys by id.',
    output: z.strictObject({ keys: z.array(keyRow), ...pageFields }),
  }),
  getKey: documentOperation(getKey, {
    summary: 'show a key by its public id; the key itself is never shown',
    returns: 'The key.',
    output: keyRow,
  }),
  createKey: documentOperation(createKey, {
    summary: 'create a key; it is shown only once',
    description:
      'Once for each `id`. A repeat has no `key`, because only its digest is stored: rotate the key if the first response was lost. The same `id` with other fields is a 409 with code `id_taken`. An admin of a tenant gives at most what the tenant has.',
    returns: 'The key, shown once.',
    output: newKey.extend({
      key: key.optional(),
      repeated: z
        .boolean()
        .optional()
        .describe('True for an `id` whose key was made before with the same fields; else left out.'),
    }),
  }),
  changeKey: documentOperation(changeKey, {
    summary: 'change the name, models, rate, expiry or budget of a key; the change holds from the next request on',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    returns: 'The key.',
    output: keyRow,
  }),
  rotateKey: documentOperation(rotateKey, {
    summary: 'replace a key; the old one keeps working for the overlap',
    description: 'The new key has the limits and the budget of the old one.',
    returns: 'The new key, shown once.',
    output: newKey.extend({
      replaces: z.string().describe('Public id of the old key.'),
      old_expires_at: isoTimeField.describe('When the old key ends.'),
    }),
  }),
  revokeKey: documentOperation(revokeKey, {
    summary: 'revoke a key: it is refused from the next request on',
    returns: 'The key.',
    output: z.strictObject({ id: z.string(), state: z.literal('revoked') }),
  }),
  restoreKey: documentOperation(restoreKey, {
    summary: 'let the revoked subject of an identity issuer call again',
    description: 'The revocation of an API key is final.',
    returns: 'The key.',
    output: z.strictObject({ id: z.string(), state: z.literal('active') }),
  }),
  createPlaygroundKey: documentOperation(createPlaygroundKey, {
    summary: 'create a key for the playground',
    description:
      'A session of an API key gets one with the models, the rate and the budget of that key, which ends with that key. An owner names a tenant. A viewer gets a 403.',
    returns: 'The key, which works for 15 minutes.',
    output: z.strictObject({
      key,
      expires_at: isoTimeField,
      tenant: z.string().describe('Id of the tenant whose credits it spends.'),
    }),
  }),
}

/** Parts of the responses that have names of their own in `admin-openapi.json`. */
export const KEY_SCHEMAS = { Key: keyRow, KeyBudget: budget }

/** The option that names a key. */
const KEY = {
  value: 'ID|NAME',
  summary: 'the key, by its public id or by a name that no other usable key has',
  required: true,
  field: 'key_id',
  find: async (table, text) => (await findKey(table, text)).keyId,
} as const satisfies FieldOption

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
  const keys = await listApiKeys(table)
  const named = keys.filter(({ name }) => name === idOrName)
  const usable = named.filter((key) => ['active', 'suspended'].includes(stateOf(key, Date.now())))
  const [found, ...others] = usable.length > 0 ? usable : named
  if (found === undefined) {
    const words = keys.flatMap(({ keyId, name }) => [name ?? '', keyId])
    throw new StoreRefusal('not_found', `no key ${idOrName}${meant(idOrName, words)}`)
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

/** The models of `--models`. @throws UsageError for an empty list. */
export function readModels(text: string): readonly string[] {
  const models = text
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '')
  if (models.length === 0) {
    throw new UsageError('--models is empty: name at least one model')
  }
  if (models.includes('none')) {
    throw new UsageError('--models: `none` would lock the key out: name at least one model')
  }
  return models
}

/** The requests per minute of `--rate`; null for `none`. @throws UsageError. */
export function readRate(text: string): number | null {
  if (text === 'none') {
    return null
  }
  const rate = /^\d+$/.test(text) ? Number(text) : 0
  if (rate < 1 || rate > RATE_PER_MINUTE_MAX) {
    throw new UsageError(`--rate ${text}: use a whole number from 1 to ${RATE_PER_MINUTE_MAX}, or none`)
  }
  return rate
}

/** The time of `--expires` in Unix milliseconds, as it is stored: in whole seconds. @throws UsageError. */
export function readExpiry(text: string): number {
  return Math.floor(readEnd('expires', text, Date.now()) / 1000) * 1000
}

const RATES = `requests per minute, from 1 to ${RATE_PER_MINUTE_MAX}, or \`none\``

const BUDGET = {
  value: 'N/PERIOD|none',
  summary: 'credits per day, month or total, such as 5/month, or `none`',
  read: readBudget,
} as const satisfies FieldOption

/** The key, shown this once, after its limits. */
function newKeyText({ id, key, tenant, ...limits }: NewKeyOutput): string {
  const { models, name, expires_at: end, rate_per_minute: rate, budget } = limits
  const told = [
    models === null ? 'all models' : models.join(', '),
    ...(end === undefined ? [] : [`until ${end}`]),
    rate === undefined ? 'any number of requests' : `${rate} requests per minute`,
    ...(budget === undefined ? [] : [`budget ${budgetLine(budget)}`]),
  ]
  const called = name === undefined ? '' : ` "${name}"`
  const shown = key === undefined ? 'It was made before and is not shown again.' : `${key}\n\nIt is not shown again.`
  return `key ${id}${called} for tenant ${tenant}, ${told.join(', ')}\n\n${shown}`
}

type NewKeyOutput = Awaited<ReturnType<typeof KEY_DOCUMENTS.createKey.operation.run>>

/** Creates a key and shows it, which happens only once. @throws StoreRefusal `not_found`. */
export const keyCreate: Command = commandOf(KEY_DOCUMENTS.createKey, {
  name: 'key create',
  options: {
    tenant: TENANT,
    name: { value: 'NAME', summary: 'name for people', read: readName },
    models: { value: 'A,B', summary: 'models that the key may use; default: all', read: readModels },
    expires: {
      value: '90d|DATE',
      summary: 'expiry, such as 90d, 12h or 2027-01-31; default: never',
      field: 'expires_at',
      read: readExpiry,
    },
    rate: {
      value: 'N|none',
      summary: `${RATES}; default: ${RATE_PER_MINUTE_DEFAULT}`,
      field: 'rate_per_minute',
      read: readRate,
    },
    budget: { ...BUDGET, summary: `${BUDGET.summary}; default: none` },
  },
  examples: [
    'key create --tenant demo --local',
    'key create --tenant demo --name "web shop" --models famB-1.1-t2v,chat-default --expires 90d --rate 120 --budget 5/month --local',
  ],
  format: newKeyText,
})

/** Lists keys by their public ids: all keys, or those of one tenant. @throws StoreRefusal `not_found`. */
export const keyList: Command = commandOf(KEY_DOCUMENTS.listKeys, {
  name: 'key list',
  options: { tenant: { value: 'ID|NAME', summary: 'only the keys of this tenant', find: findTenantId } },
  examples: ['key list --local', 'key list --tenant demo --json'],
  format: ({ keys }) => formatTable(KEY_COLUMNS, keys.map(keyCells)),
})

/** One key by its public id or its name. @throws StoreRefusal `not_found`. */
export const keyShow: Command = commandOf(KEY_DOCUMENTS.getKey, {
  name: 'key show',
  options: { key: KEY },
  examples: ['key show --key 8fK2mQ0z --local', 'key show --key "web shop" --stage prod --json'],
  format: (key) => `${formatTable(KEY_COLUMNS, [keyCells(key)])}${identityText(key)}`,
})

const KEY_COLUMNS = ['KEY', 'TENANT', 'NAME', 'STATE', 'EXPIRES', 'RATE', 'BUDGET', 'LEFT', 'MODELS', 'CREATED']

function keyCells(key: ReturnType<typeof keyJson>): (string | null)[] {
  const { id, tenant, name, state, expires_at: end, rate_per_minute: rate, budget, models, created_at: created } = key
  const named = key.budget_id === undefined ? '' : ` (${key.budget_id})`
  const budgetCells =
    budget === null
      ? [key.budget_missing ? `missing${named}` : null, null]
      : [`${limitLine(budget)}${named}`, budget.left]
  return [
    ...[id, tenant, name, state, end, rate === null ? null : `${rate}/min`],
    ...[...budgetCells, models?.join(',') ?? 'all', created],
  ]
}

/** Whose key it is, for the key of a subject. */
function identityText({ issuer, subject, rule }: ReturnType<typeof keyJson>): string {
  return issuer === undefined
    ? ''
    : `\n\n${formatTable(
        [],
        [
          ['subject', subject ?? null],
          ['issuer', issuer],
          ['rule', rule ?? null],
        ],
      )}`
}

/** @throws StoreRefusal `not_found`. */
export const keyRevoke: Command = commandOf(KEY_DOCUMENTS.revokeKey, {
  name: 'key revoke',
  details:
    'Asks for confirmation on a terminal. Without a terminal, or with --json, it does not ask, because scripts run it without --yes.',
  options: { key: KEY },
  examples: ['key revoke --key 8fK2mQ0z', 'key revoke --key 8fK2mQ0z --json'],
  async prepare({ key_id: key }, { table, confirm, warn }) {
    if ((await getApiKey(await table(), key)).listing.state === 'revoked') {
      warn(`key ${key} was revoked already`)
      return undefined
    }
    await confirm(`Key ${key} will be refused permanently from the next request on`, { unattended: 'proceed' })
    return undefined
  },
  format: ({ id }) => `key ${id} is revoked: every request with it is refused`,
})

/** @throws StoreRefusal `not_found`, `key_unusable`, `changed_meanwhile`. */
export const keyRestore: Command = commandOf(KEY_DOCUMENTS.restoreKey, {
  name: 'key restore',
  details: 'The revocation of an API key is final.',
  options: { key: KEY },
  examples: ['key restore --key sub_5f0c9f6d2f7d4b1a8c3e9a10 --local'],
  format: ({ id }) => `key ${id} can be used again`,
})

/** Changes a key. @throws StoreRefusal `not_found`, `key_unusable`, `changed_meanwhile`. */
export const keySet: Command = commandOf(KEY_DOCUMENTS.changeKey, {
  name: 'key set',
  details: `Options that are left out stay as they are. A revoked key cannot be changed. A key that has expired works again with a later
expiry. Requests that run finish as they began. A new budget begins with what the usage counters of its period say; requests that are open at
that moment never count in it. A key and its successors share one budget, which changes for all of them; \`none\` takes this key alone out. The
limit that a budget has counts it again.`,
  options: {
    key: KEY,
    name: {
      value: 'NAME',
      summary: 'name for people; an empty one removes it',
      read: (text) => readName(text) || null,
    },
    models: {
      value: 'A,B|all',
      summary: 'models that the key may use, or `all`',
      read: (text) => (text === 'all' ? null : readModels(text)),
    },
    rate: { value: 'N|none', summary: RATES, field: 'rate_per_minute', read: readRate },
    expires: {
      value: '90d|DATE|none',
      summary: 'expiry, such as 90d, 12h or 2027-01-31, or `none`',
      field: 'expires_at',
      read: (text) => (text === 'none' ? null : readExpiry(text)),
    },
    budget: BUDGET,
  },
  examples: [
    'key set --key 8fK2mQ0z --models chat-default --rate 30 --local',
    'key set --key "web shop" --expires 2027-01-31 --name shop --stage prod',
    'key set --key 8fK2mQ0z --budget 5/month --local',
    'key set --key 8fK2mQ0z --models all --rate none --expires none --json',
  ],
  format: ({ models, rate_per_minute: rate, budget, budget_missing, ...key }) => {
    const shown = {
      ...key,
      models: models?.join(',') ?? 'all',
      rate_per_minute: rate === null ? null : String(rate),
      budget: budget === null ? (budget_missing ? 'missing' : null) : budgetLine(budget),
    }
    return formatTable(
      [],
      Object.entries(shown).map(([name, value]) => [name, value ?? null]),
    )
  },
})

/** Replaces a key by a new one; the old key keeps working for the overlap. @throws StoreRefusal `not_found`. */
export const keyRotate: Command = commandOf(KEY_DOCUMENTS.rotateKey, {
  name: 'key rotate',
  details: `The new key has the tenant, name, models, rate, budget and lifetime of the old one and is shown this once. A second
rotation of a key asks first. The end of the old key never moves later.
Both are written at once or not at all.`,
  options: {
    key: KEY,
    overlap: { ...OVERLAP, summary: `how long the old key keeps working, such as 1h or 7d; ${OVERLAP.summary}` },
    expires: {
      value: '90d|DATE',
      summary: 'expiry of the new key; default: the lifetime of the old one',
      field: 'expires_at',
      read: readExpiry,
    },
  },
  without: ['again'],
  examples: ['key rotate --key 8fK2mQ0z --overlap 24h', 'key rotate --key 8fK2mQ0z --overlap 0s --expires 90d --json'],
  async prepare({ key_id: keyId }, { table, confirm }) {
    const { listing } = await getApiKey(await table(), keyId)
    requireUsable(listing, Date.now())
    const end = endAfterRotation(listing)
    if (end === undefined) {
      return undefined
    }
    await confirm(`Key ${keyId} was rotated before and ends at ${new Date(end).toISOString()}`)
    return { again: true }
  },
  format: ({ replaces, old_expires_at: end, ...made }) =>
    `${newKeyText(made)}\nKey ${replaces} ${Date.parse(end) > Date.now() ? `works until ${end}` : 'has ended'}.`,
})
