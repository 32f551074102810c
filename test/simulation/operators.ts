import { parseCredits } from '#core/money.ts'
import { revokeApiKey } from '#store/keys/api-keys.ts'
import { putApiKey, setApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { grantCredits } from '#store/tenants/credits.ts'
import { createTenant, resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { TESTER } from '../engines/tester.ts'
import { pick } from './faults.ts'
import type { World } from './world.ts'

/** The tenants of every history. */
export const TENANTS = ['tenant-a', 'tenant-b']
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`
/** One of them may have no more open jobs than this at a time. */
const LIMITED_TENANT = 'tenant-b'
const OPEN_JOBS_MAX = 2
/** Enough for a few jobs of a history, not for all. */
const FIRST_CREDITS = '2.5'

/** A key of a tenant, named by its digest. */
export type Key = { readonly tenantId: string; readonly digest: string }

/** The operators of one history: tenants, keys and money. */
export class Operators {
  readonly #world: World
  #digests = TENANTS.flatMap((tenant) => [`${tenant}.key-1`, `${tenant}.key-2`])
  #grants = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Every key that was ever made, active or not. */
  get keys(): readonly Key[] {
    return this.#digests.map((digest) => ({ tenantId: tenantOf(digest), digest }))
  }

  /** Tenants, credits and keys, written before anything can go wrong. */
  async open(plain: Table): Promise<void> {
    const nowMilliseconds = this.#world.scheduler.nowMilliseconds()
    for (const id of TENANTS) {
      const credits = parseCredits(FIRST_CREDITS)
      await createTenant(
        plain,
        {
          id,
          name: id,
          webhookSecret: WEBHOOK_SECRET,
          credits,
          grantId: 'first',
          nowMilliseconds,
        },
        TESTER,
      )
    }
    await changeTenant(plain, { tenantId: LIMITED_TENANT, settings: { openJobsMax: OPEN_JOBS_MAX }, actor: TESTER })
    for (const digest of this.#digests) {
      await putApiKey(plain, { keyId: digest, tenantId: tenantOf(digest), models: null, createdAt: 1, digest }, TESTER)
    }
  }

  revokeKey(): void {
    const keyId = pick(this.#world.scheduler, this.#digests)
    this.operate(() => revokeApiKey(this.#world.table.table, keyId, TESTER))
  }

  changeKey(): void {
    const { scheduler, table } = this.#world
    const ratePerMinute = 1_000 + Math.trunc(scheduler.random() * 1_000)
    const change = { keyId: pick(scheduler, this.#digests), settings: { ratePerMinute }, actor: TESTER }
    this.operate(() => setApiKey(table.table, change))
  }

  newKey(): void {
    const tenantId = pick(this.#world.scheduler, TENANTS)
    const digest = this.addKey(tenantId)
    const key = { keyId: digest, tenantId, models: null, createdAt: 1, digest }
    this.operate(() => putApiKey(this.#world.table.table, key, TESTER))
  }

  grant(): void {
    this.#grants += 1
    const grant = {
      grantId: `more-${this.#grants}`,
      credits: parseCredits('0.7'),
      nowMilliseconds: this.#world.scheduler.nowMilliseconds(),
    }
    this.operate(() =>
      grantCredits(this.#world.table.table, pick(this.#world.scheduler, TENANTS), { ...grant, actor: TESTER }),
    )
  }

  /** Resumes more often than it suspends, so that requests still get through. */
  suspendOrResume(random: () => number): void {
    const tenantId = TENANTS[Math.trunc(random() * TENANTS.length)] ?? ''
    const move = random() < 0.6 ? resumeTenant : suspendTenant
    this.operate(() => move(this.#world.table.table, tenantId, { actor: TESTER }))
  }

  /** A name for another key of a tenant, which clients use from now on. */
  addKey(tenantId: string): string {
    const digest = `${tenantId}.key-${this.#digests.length + 1}`
    this.#digests = [...this.#digests, digest]
    return digest
  }

  /** A command, which a fault may befall. */
  operate(act: () => Promise<unknown>): void {
    this.#world.scheduler.spawn(() =>
      this.#world.scheduler.invoke(act).then(
        () => {},
        () => {},
      ),
    )
  }
}

/** The tenant of a key. */
export function tenantOf(digest: string): string {
  return digest.split('.')[0] ?? ''
}
