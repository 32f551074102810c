import { findCaller } from '#adapters/store/accounts/api-key-record.ts'
import { createTenant } from '#adapters/store/accounts/create-tenant.ts'
import { grantCredits } from '#adapters/store/accounts/grant-credits.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { setOpenJobLimit } from '#adapters/store/accounts/open-job-limit.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { resumeTenant, suspendTenant } from '#adapters/store/accounts/tenant-suspension.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money/money.ts'
import { createVideoJob } from '#lambdas/api/create-video-job/create-video-job.ts'
import { deleteVideoJob } from '#lambdas/api/delete-video-job/delete-video-job.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'
import { TESTER } from '../engines/tester.ts'
import { pick } from './faults.ts'
import { CALLBACK_HOST } from './simulated-catalogue.ts'
import type { World } from './world.ts'

type Request = { readonly prompt: string; readonly digest: string; readonly idempotencyKey: string | undefined }

/** Tries of one request by a client that gets no answer; only with an idempotency key may it try again. */
const TRIES_MAX = 3

const TENANTS = ['tenant-a', 'tenant-b']
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`
/** One of them may have no more open jobs than this at a time. */
const LIMITED_TENANT = 'tenant-b'
const OPEN_JOBS_MAX = 2
/** Enough for a few jobs of a history, not for all. */
const FIRST_CREDITS = '2.5'

/** The clients and operators of one history. */
export class Clients {
  readonly promptsWithKey = new Set<string>()
  readonly keyOfPrompt = new Map<string, string>()
  readonly answers = new Map<string, number>()
  readonly #world: World
  readonly #requests: Request[] = []
  readonly #jobs: { readonly tenantId: string; readonly jobId: string }[] = []
  #digests = TENANTS.flatMap((tenant) => [`${tenant}.key-1`, `${tenant}.key-2`])
  #grants = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Every key that was ever made, active or not. */
  get keys(): readonly { readonly tenantId: string; readonly digest: string }[] {
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
    await setOpenJobLimit(plain, LIMITED_TENANT, { limit: OPEN_JOBS_MAX, actor: TESTER })
    for (const digest of this.#digests) {
      await putApiKey(plain, { keyId: digest, tenantId: tenantOf(digest), models: null, createdAt: 1, digest }, TESTER)
    }
  }

  /** A new request, or an earlier one again. */
  create(): void {
    const isRepeat = this.#requests.length > 0 && this.#world.scheduler.random() < 0.3
    const request = isRepeat ? pick(this.#world.scheduler, this.#requests) : this.#newRequest()
    if (!isRepeat || request.idempotencyKey !== undefined) {
      this.#world.scheduler.spawn(() => this.#send(request))
    }
  }

  delete(): void {
    const { scheduler } = this.#world
    if (this.#jobs.length > 0) {
      const job = pick(scheduler, this.#jobs)
      const run = () => scheduler.invoke(() => deleteVideoJob(job, this.#world.context()))
      scheduler.spawn(() => run().catch(() => {}))
    }
  }

  revokeKey(): void {
    const keyId = pick(this.#world.scheduler, this.#digests)
    this.#operate(() => revokeApiKey(this.#world.table.table, keyId, TESTER))
  }

  newKey(): void {
    const digest = `${pick(this.#world.scheduler, TENANTS)}.key-${this.#digests.length + 1}`
    this.#digests = [...this.#digests, digest]
    const key = { keyId: digest, tenantId: tenantOf(digest), models: null, createdAt: 1, digest }
    this.#operate(() => putApiKey(this.#world.table.table, key, TESTER))
  }

  grant(): void {
    this.#grants += 1
    const grant = {
      grantId: `more-${this.#grants}`,
      credits: parseCredits('0.7'),
      nowMilliseconds: this.#world.scheduler.nowMilliseconds(),
    }
    this.#operate(() =>
      grantCredits(this.#world.table.table, pick(this.#world.scheduler, TENANTS), { ...grant, actor: TESTER }),
    )
  }

  /** Resumes more often than it suspends, so that requests still get through. */
  suspendOrResume(random: () => number): void {
    const tenantId = TENANTS[Math.trunc(random() * TENANTS.length)] ?? ''
    const move = random() < 0.6 ? resumeTenant : suspendTenant
    this.#operate(() => move(this.#world.table.table, tenantId, { actor: TESTER }))
  }

  #operate(act: () => Promise<unknown>): void {
    this.#world.scheduler.spawn(() =>
      this.#world.scheduler.invoke(act).then(
        () => {},
        () => {},
      ),
    )
  }

  #newRequest(): Request {
    const prompt = `prompt-${this.#requests.length + 1}`
    const hasKey = this.#world.scheduler.random() < 0.7
    const digest = pick(this.#world.scheduler, this.#digests)
    const request = { prompt, digest, idempotencyKey: hasKey ? prompt : undefined }
    this.#requests.push(request)
    this.keyOfPrompt.set(prompt, digest)
    if (hasKey) {
      this.promptsWithKey.add(prompt)
    }
    return request
  }

  async #send(request: Request): Promise<void> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const answer = await this.#post(request)
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
      if (answer !== 'no answer' || request.idempotencyKey === undefined) {
        return
      }
      await this.#world.scheduler.pause(1000)
    }
  }

  /** What the create operation does behind its middleware: the name of what came of it. */
  async #post({ prompt, digest, idempotencyKey }: Request): Promise<string> {
    const context = this.#world.context()
    const body = {
      model: PER_SECOND_MODEL,
      prompt,
      duration: 5,
      ...(prompt.endsWith('3') ? {} : { callback_url: `https://${CALLBACK_HOST}/${prompt}` }),
    }
    try {
      return await this.#world.scheduler.invoke(async () => {
        const caller = await findCaller(context.table, digest, context.nowMilliseconds() / 1000)
        if (caller === undefined) {
          return '401'
        }
        const answer = JSON.parse(await createVideoJob({ caller, body, idempotencyKey }, context))
        this.#jobs.push({ tenantId: caller.tenantId, jobId: answer.id })
        return '201'
      })
    } catch (error) {
      const hasStatus = typeof error === 'object' && error !== null && 'statusCode' in error
      return hasStatus && Number(error.statusCode) < 500 ? String(error.statusCode) : 'no answer'
    }
  }
}

function tenantOf(digest: string): string {
  return digest.split('.')[0] ?? ''
}
