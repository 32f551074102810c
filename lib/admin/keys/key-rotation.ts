import { readKeyBudgets } from '#adapters/store/money/key-budget.ts'
import { endAfterRotation, requireUsable, rotateKey } from '#lambdas/admin/keys/rotate-key.ts'
import type { Command } from '../command-line/command.ts'
import { OVERLAP_DEFAULT, readEnd, readOverlap } from '../command-line/read-time.ts'
import { describeNewKey, isoSeconds } from './describe-key.ts'
import { findKey, KEY } from './find-key.ts'

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
