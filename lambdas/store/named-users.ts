import * as z from 'zod/mini'
import { isKeptAsGiven, OTHER_USERS, USER_KEEPINGS, USERS_PER_DAY_MAX, type UserKeeping } from '#core/named-users.ts'
import { dayOf } from '#core/pricing/usage.ts'
import { RecentValues } from '../platform/cache.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import { change } from './table/expressions.ts'
import { type Table, tryTransact } from './table/table.ts'
import { tableKeys } from './table/table-keys.ts'

/** How long the setting of a tenant is used before it is read again. */
const SETTING_MILLISECONDS = 60_000

const TENANTS_MAX = 1_000

/** Users that a process knows to be counted; others are looked up. */
const USERS_MAX = 20_000

/** Marks of users outlive their day, whatever the clocks say. */
const KEPT_SECONDS = 3 * 24 * 60 * 60

const DIGEST_CHARACTERS = 24

const settingItem = z.object({
  userKeeping: z._default(z.enum(USER_KEEPINGS), 'off'),
  userSalt: z._default(z.string(), ''),
})

type Setting = z.infer<typeof settingItem>

/** How users of a tenant are counted. `off` for a tenant that does not exist. */
export async function readUserKeeping(table: Pick<Table, 'readItem'>, tenantId: string): Promise<UserKeeping> {
  return (await readSetting(table, tenantId)).userKeeping
}

async function readSetting(table: Pick<Table, 'readItem'>, tenantId: string): Promise<Setting> {
  return settingItem.parse((await table.readItem(tableKeys.balance(tenantId))) ?? {})
}

type UsersTable = Pick<Table, 'readItem' | 'transact'>

/** Says under which name the user of a request is counted. A request that names nobody needs none of this. */
export class NamedUsers {
  readonly #table: UsersTable
  readonly #clock: Pick<Clock, 'nowMilliseconds'>
  readonly #settings = new RecentValues<Setting & { readonly readAt: number }>(TENANTS_MAX)
  readonly #counted = new RecentValues<true>(USERS_MAX)

  constructor(table: UsersTable, clock: Pick<Clock, 'nowMilliseconds'> = systemClock) {
    this.#table = table
    this.#clock = clock
  }

  /**
   * The name for usage counters: a digest, the name as it is given, or `others` above the most users of a day. Undefined where the tenant counts no
   * users. Reads the setting of a tenant once a minute, and the mark of a user once a day.
   * @throws ServiceUnavailableError when the table stays out of reach.
   */
  async counted(tenantId: string, named: string): Promise<string | undefined> {
    const { userKeeping: users, userSalt } = await this.#settingOf(tenantId)
    if (users === 'off') {
      return undefined
    }
    const isGiven = users === 'given' && isKeptAsGiven(named)
    const user = isGiven ? named : `u_${sha256Hex(`${userSalt}\n${named}`).slice(0, DIGEST_CHARACTERS)}`
    const day = dayOf(this.#clock.nowMilliseconds())
    const mark = `${tenantId}#${day}#${user}`
    if (this.#counted.get(mark) === undefined) {
      if (!(await this.#admit(tenantId, day, user))) {
        return OTHER_USERS
      }
      this.#counted.set(mark, true)
    }
    return user
  }

  async #settingOf(tenantId: string): Promise<Setting> {
    const now = this.#clock.nowMilliseconds()
    const kept = this.#settings.get(tenantId)
    if (kept !== undefined && now - kept.readAt < SETTING_MILLISECONDS) {
      return kept
    }
    const setting = { ...(await readSetting(this.#table, tenantId)), readAt: now }
    this.#settings.set(tenantId, setting)
    return setting
  }

  /** Marks the user of a day, once, while there is room. @returns whether the user is counted by itself. */
  async #admit(tenantId: string, day: string, user: string): Promise<boolean> {
    const key = tableKeys.namedUser(tenantId, `${day}#${user}`)
    if ((await this.#table.readItem(key)) !== undefined) {
      return true
    }
    const ttl = Math.trunc(this.#clock.nowMilliseconds() / 1000) + KEPT_SECONDS
    const hasRoom = {
      condition: '(attribute_not_exists(marked) OR marked < :most)',
      values: { ':most': USERS_PER_DAY_MAX },
    }
    const marking = {
      user: { Put: { Item: { ...key, ttl }, ConditionExpression: 'attribute_not_exists(PK)' } },
      day: { Update: change(tableKeys.namedUser(tenantId, day), { set: { ttl }, add: { marked: 1 } }, [hasRoom]) },
    }
    // At the beginning of a day every user is new.
    const refusal = await tryTransact(this.#table, marking, { isCrowded: true })
    return refusal === undefined || refusal.failed.has('user')
  }
}
