import { type BudgetLimit, PERIOD_KINDS } from '#core/budgets.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { changeAlertSettings } from '#store/alerts/alert-settings.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { type ApiKeyListing, getApiKey, listApiKeys } from '#store/keys/api-keys.ts'
import { putApiKey, setApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import type { Table } from '#store/table/table.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { adjustTenant, grantTenant } from '#store/tenants/credits.ts'
import { createTenant, resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { pick } from './faults.ts'
import { ALERTS_PATH } from './simulated-network.ts'
import { CALLBACK_HOST, type World } from './world.ts'

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
    const grant = { id: `more-${this.#grants}`, credits: parseCredits('0.7'), actor: TESTER }
    this.operate(() => grantTenant(this.#world.table.table, pick(this.#world.scheduler, TENANTS), grant))
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

/** From nearly nothing to more than a tenant has. */
const LIMITS = ['0.05', '0.4', '1', '5'] as const
const OVERLAPS_MILLISECONDS = [0, 60_000, 3_600_000] as const

/** Taken back more often than given, in microcredits. */
const CORRECTIONS = [-900_000, -300_000, -1, 200_000] as const
/** Ids of corrections that may lead into debt begin with this. */
export const DEBT = 'debt-'

/** One tenant is alerted to a low balance, at its own url too. */
const WATCHED_TENANT = 'tenant-a'
const LOW_BALANCE = '1'

/** The operators who limit, correct and watch what tenants spend. */
export class BudgetOperators {
  readonly #world: World
  readonly #operators: Operators
  /** Budgets of keys that were set when everything was over. */
  readonly setLate: string[] = []
  #corrections = 0

  constructor(world: World, operators: Operators) {
    this.#world = world
    this.#operators = operators
  }

  /** Alerts of a tenant, asked for before anything can go wrong. */
  async open(plain: Table): Promise<void> {
    const change = { url: `https://${CALLBACK_HOST}${ALERTS_PATH}`, lowBalance: parseCredits(LOW_BALANCE) }
    await changeAlertSettings(plain, WATCHED_TENANT, { change, actor: TESTER, nowMilliseconds: 0 })
  }

  /** Sets, changes or ends the budget of a tenant. */
  setTenantBudget(): void {
    const { scheduler, table } = this.#world
    const tenantId = pick(scheduler, TENANTS)
    const settings = { budget: this.#drawLimit() }
    const change = { tenantId, settings, actor: TESTER, clock: scheduler }
    this.#operators.operate(() => changeTenant(table.table, change))
  }

  /** Sets, changes or ends the budget of a key. */
  setKeyBudget(): void {
    const { scheduler, table } = this.#world
    const settings = { budget: planKeyBudget(table.table, this.#drawLimit(), scheduler) }
    const change = { keyId: this.#drawKey(), settings, actor: TESTER }
    this.#operators.operate(() => setApiKey(table.table, change))
  }

  /** Replaces a key by one that shares its budget; the old one works for another while. */
  rotateKey(): void {
    const { scheduler, table } = this.#world
    const keyId = this.#drawKey()
    const digest = this.#operators.addKey(tenantOf(keyId))
    this.#operators.operate(async () => {
      const old = (await getApiKey(table.table, keyId)).listing
      const endsAt = scheduler.nowMilliseconds() + pick(scheduler, OVERLAPS_MILLISECONDS)
      const replaces = { keyId, expiresAt: old.expiresAt, revision: old.revision, endsAt }
      const key = { keyId: digest, tenantId: old.tenantId, models: null, createdAt: 1, digest }
      await putApiKey(table.table, { ...key, replaces, ...(old.budget === null ? {} : { budget: old.budget }) }, TESTER)
    })
  }

  /** Corrects a balance, perhaps twice under one id. */
  correct(): void {
    const { scheduler, table } = this.#world
    this.#corrections += 1
    const isDebtAllowed = scheduler.random() < 0.3
    const correction = {
      id: `${isDebtAllowed ? DEBT : 'correction-'}${this.#corrections}`,
      amount: microcredits(pick(scheduler, CORRECTIONS)),
      reason: 'simulated',
      isDebtAllowed,
      actor: TESTER,
    }
    const tenantId = pick(scheduler, TENANTS)
    for (let left = scheduler.random() < 0.3 ? 2 : 1; left > 0; left -= 1) {
      this.#operators.operate(() => adjustTenant(table.table, tenantId, correction))
    }
  }

  /**
   * When everything is over: sets budgets late, which begin with what was spent before.
   * @returns what `ledger verify` finds.
   */
  async close(plain: Table): Promise<string[]> {
    for (const tenantId of TENANTS) {
      await this.#setLate(plain, tenantId)
    }
    return (await verifyLedger(plain)).map(({ tenant, message }) => `ledger verify says of ${tenant}: ${message}`)
  }

  /** One key gets a budget of another kind, preferably one that shares its budget with others. */
  async #setLate(plain: Table, tenantId: string): Promise<void> {
    const { scheduler } = this.#world
    const keys = (await listApiKeys(plain)).filter((key) => key.tenantId === tenantId && key.state === 'active')
    const limited = keys.filter(({ budget }) => budget !== null)
    const shared = limited.find(({ budget, keyId }) =>
      limited.some((other) => other.keyId !== keyId && other.budget?.id === budget?.id),
    )
    const key = shared ?? limited[0] ?? keys[0]
    if (key !== undefined) {
      const limit = { amount: parseCredits('5'), kind: otherKind(key) }
      const settings = { budget: planKeyBudget(plain, limit, scheduler) }
      const changed = await setApiKey(plain, { keyId: key.keyId, settings, actor: TESTER })
      this.setLate.push(changed.key.budget?.id ?? '')
    }
  }

  #drawKey(): string {
    const { scheduler } = this.#world
    return pick(scheduler, this.#operators.keys).digest
  }

  #drawLimit(): BudgetLimit | null {
    const { scheduler } = this.#world
    const kind = pick(scheduler, PERIOD_KINDS)
    return scheduler.random() < 0.2 ? null : { amount: parseCredits(pick(scheduler, LIMITS)), kind }
  }
}

function otherKind({ budget }: ApiKeyListing): BudgetLimit['kind'] {
  return budget?.kind === 'month' ? 'total' : 'month'
}
