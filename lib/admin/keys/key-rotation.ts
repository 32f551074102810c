import type { ApiKeyListing } from '#adapters/store/accounts/api-key-listing.ts'
import { generateApiKey, storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import type { Actor } from '#adapters/store/audit/audit-entry.ts'
import { readKeyBudgets } from '#adapters/store/money/key-budget.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { Answer } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'
import { readDuration, readEnd } from '../command-line/read-time.ts'
import { describeNewKey, isoSeconds, stateOf } from './describe-key.ts'
import { findKey, KEY } from './find-key.ts'

const OVERLAP_DEFAULT = '24h'

/** Replaces a key by a new one; the old key keeps working for the overlap. @throws ApiKeyNotFoundError. */
export const keyRotate: Command = {
  name: 'key rotate',
  summary: 'replace a key; the old one keeps working for the overlap',
  details: `The new key has the tenant, name, models, rate, budget and lifetime of the old one and is shown this once. A key that was
rotated before is not rotated again unasked. Its end is never put off, and the lifetime is that of before.
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
    const overlap = readDuration('overlap', values.text('overlap') ?? OVERLAP_DEFAULT)
    const expires = values.text('expires')
    const wished = expires === undefined ? undefined : readEnd('expires', expires, Date.now())
    const table = await context.table()
    const old = await findKey(table, values.required('key'))
    const now = Date.now()
    const state = stateOf(old, now)
    if (state === 'revoked' || state === 'expired') {
      throw new CommandFailedError(
        `key ${old.keyId} is ${state}: it cannot be used any more; create a new one with key create`,
      )
    }
    if (old.endBeforeReplacement !== undefined && old.expiresAt !== null) {
      const end = new Date(old.expiresAt).toISOString()
      await context.confirm(`Key ${old.keyId} was rotated before and ends at ${end}`)
    }
    return await rotateKey(table, old, {
      actor: await context.actor(),
      newEndsAt: wished ?? endOfSameLifetime(old, now),
      oldEndsAt: Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlap),
    })
  },
}

/** A second rotation uses the expiry before the first one; otherwise the new key would expire at the end of the overlap. */
function endOfSameLifetime({ expiresAt, endBeforeReplacement, createdAt }: ApiKeyListing, now: number) {
  const planned = endBeforeReplacement === undefined ? expiresAt : endBeforeReplacement
  return planned === null ? undefined : now + (planned - createdAt)
}

/** Both keys in one transaction: after a crash, the old key either is unchanged or works beside the new one. */
async function rotateKey(
  table: Table,
  old: ApiKeyListing,
  { newEndsAt, oldEndsAt, actor }: { newEndsAt: number | undefined; oldEndsAt: number; actor: Actor },
): Promise<Answer> {
  const key = generateApiKey()
  const limits = {
    models: old.models,
    name: old.name ?? undefined,
    expiresAt: newEndsAt,
    ratePerMinute: old.ratePerMinute ?? undefined,
  }
  // The budget goes on with what is spent and held: a rotation gives no room.
  const shared = old.budget === null ? {} : { budget: old.budget }
  const replaces = { keyId: old.keyId, expiresAt: old.expiresAt, revision: old.revision, endsAt: oldEndsAt }
  const id = await storeApiKey(table, { key, tenantId: old.tenantId, ...limits, ...shared, replaces }, actor)
  const [budget] = (await readKeyBudgets(table, [old])).values()
  const { json, text } = describeNewKey({ id, key, tenant: old.tenantId, budget, ...limits })
  const ends = isoSeconds(oldEndsAt)
  return {
    json: { ...Object(json), replaces: old.keyId, old_expires_at: ends },
    text: `${text}\nKey ${old.keyId} works until ${ends}.`,
  }
}
