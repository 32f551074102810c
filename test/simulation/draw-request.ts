import { microcredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { pick } from './faults.ts'
import type { Key } from './operators.ts'
import type { RelayedRequest } from './relayed-request.ts'
import type { Scheduler } from './scheduler.ts'
import type { World } from './world.ts'

const AMOUNT_MICROCREDITS_MAX = 300_000

/** A request of a key, as its reservation names it. */
export function drawReservation(world: World, { tenantId, digest }: Key): RelayReservation {
  const { scheduler } = world
  return {
    tenantId,
    requestId: world.context().newJobId(),
    keyDigest: digest,
    keyId: digest,
    model: pick(scheduler, ['chat-default', 'embedding']),
    operation: 'create-chat-completion',
    amount: microcredits(1 + Math.trunc(scheduler.random() * AMOUNT_MICROCREDITS_MAX)),
    reservedAt: scheduler.nowMilliseconds(),
  }
}

/** How a request ends: billed by usage, billed by estimate because it was cut, sometimes above its reservation, or given back. */
export function drawResolution(scheduler: Scheduler, { reservation }: RelayedRequest): RelayResolution {
  const share = scheduler.random()
  if (share < 0.25) {
    return { kind: 'release' }
  }
  const most = scheduler.random() < 0.1 ? 1.5 : 1
  const actual = microcredits(Math.trunc(Number(reservation.amount) * scheduler.random() * most))
  const usage = countedUsage({ inputTokens: Number(actual % 1000n), outputTokens: Number(actual % 7n) })
  return { kind: 'settle', actual, estimated: share < 0.4, usage, channel: 'openai-main' }
}
