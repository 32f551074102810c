import * as z from 'zod/mini'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { type Microcredits, microcredits } from '#core/money/money.ts'

const balanceItem = z.object({
  state: z.string(),
  available: z.union([z.number(), z.bigint()]),
  openJobs: z._default(z.number(), 0),
  openJobsMax: z.optional(z.number()),
})

type Wanted = { readonly estimate: Microcredits }

/**
 * Why a balance refused a job, by the balance at that moment; undefined for a tenant that does not exist.
 * A suspended tenant is refused like its keys, and funds are judged before the count of open jobs.
 */
export function explainBalance({ estimate }: Wanted, balance: unknown): Error {
  if (balance === undefined) {
    return new InsufficientQuotaError()
  }
  const { state, available } = balanceItem.parse(balance)
  if (state !== 'active') {
    return new InvalidApiKeyError()
  }
  if (available >= estimate) {
    return new TooManyOpenJobsError()
  }
  return new InsufficientQuotaError('video generation', { needed: estimate, available: microcredits(available) })
}

/** Why this balance would refuse a reservation now; undefined if it would not. */
export function foreseeRefusal(wanted: Wanted, balance: unknown): Error | undefined {
  const parsed = balanceItem.safeParse(balance)
  if (!parsed.success) {
    return explainBalance(wanted, balance)
  }
  const { state, available, openJobs, openJobsMax } = parsed.data
  const isOneMoreAllowed = openJobsMax === undefined || openJobs < openJobsMax
  const passes = state === 'active' && available >= wanted.estimate && isOneMoreAllowed
  return passes ? undefined : explainBalance(wanted, balance)
}
