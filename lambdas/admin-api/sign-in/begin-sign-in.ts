import { HolderRateExceededError, TooManySignInsError } from '#core/admin/errors.ts'
import { addressOfSignIn } from '#core/admin/sign-in.ts'
import { VIEWER_ADDRESS_HEADER } from '#core/http.ts'
import { type ApiEvent, headerOf } from '#middleware/api-event.ts'
import { count } from '#platform/telemetry/measures.ts'
import { recordAudit } from '#store/audit/audit-entry.ts'
import { countForHolder, takeSignInPlace } from '#store/limits/console-rates.ts'
import type { Table } from '#store/table/table.ts'

const MINUTE_MILLISECONDS = 60_000

/** A sign-in that is being judged. */
export type SignInAttempt = {
  /** Stops counting it as failed. */
  readonly succeed: () => Promise<void>
  /** Records that it was refused. */
  readonly recordRefusal: (reason: string) => Promise<void>
}

/**
 * Counts a sign-in of the address that the request comes from.
 * @throws TooManySignInsError when ten sign-ins of the address failed within a minute.
 */
export async function beginSignIn(
  table: Pick<Table, 'updateItem' | 'transact'>,
  event: ApiEvent,
  nowMilliseconds: number,
): Promise<SignInAttempt> {
  const address = addressOf(event)
  const recordRefusal = (reason: string) => recordRefusedSignIn(table, { event, address, reason, nowMilliseconds })
  const { giveBack, retryAfterSeconds } = await takeSignInPlace(table, address, nowMilliseconds)
  if (giveBack === undefined) {
    await recordRefusal('too many failed sign-ins')
    throw new TooManySignInsError(retryAfterSeconds)
  }
  return { succeed: giveBack, recordRefusal }
}

/**
 * Counts a sign-in whose key, link or user is right, before its session is opened.
 * @throws HolderRateExceededError for one too many of this holder in a minute. It is no failure of the address.
 */
export async function countSignIn(
  table: Pick<Table, 'updateItem'>,
  { succeed, recordRefusal }: SignInAttempt,
  user: { readonly holder: string; readonly nowMilliseconds: number },
): Promise<void> {
  try {
    await countForHolder(table, 'sign-in', user)
  } catch (error) {
    if (error instanceof HolderRateExceededError) {
      await recordRefusal('too many sign-ins of one key or user')
      await succeed()
    }
    throw error
  }
}

function addressOf(event: ApiEvent): string {
  const viewer = process.env.FRONT_DOOR_SECRET_ARN ? headerOf(event, VIEWER_ADDRESS_HEADER) : undefined
  return addressOfSignIn(viewer ?? event.requestContext.identity.sourceIp)
}

type Refusal = {
  readonly event: ApiEvent
  readonly address: string
  readonly reason: string
  readonly nowMilliseconds: number
}

/** Counts every refusal. One entry of the audit log for an address and minute, so that nobody can fill the log. */
async function recordRefusedSignIn(
  table: Pick<Table, 'transact'>,
  { event, address, reason, nowMilliseconds }: Refusal,
): Promise<void> {
  count('sign_in_refused')
  await recordAudit(table, {
    actor: { name: address, role: 'anonymous', requestId: event.requestContext.requestId },
    action: 'session refuse',
    target: { kind: 'console', id: 'sign-in' },
    before: null,
    after: { reason },
    at: nowMilliseconds - (nowMilliseconds % MINUTE_MILLISECONDS),
    id: `sign-in#${address}`,
  })
}
