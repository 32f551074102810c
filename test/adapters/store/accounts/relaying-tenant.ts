import { randomUUID } from 'node:crypto'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { RelayReservation, RelayResolution } from '#adapters/store/money/relay-reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openTenant, type TestTenant } from '../../../engines/video-jobs.ts'

export const RELEASE: RelayResolution = { kind: 'release' }

export function settle(credits: string, estimated = false): RelayResolution {
  return { kind: 'settle', actual: parseCredits(credits), estimated }
}

/** A tenant, and what its requests would lock. */
export type RelayingTenant = TestTenant & {
  request(credits: string, changes?: Partial<RelayReservation>): RelayReservation
  /** Another key of the same tenant. */
  anotherKey(): Promise<{ readonly keyDigest: string; readonly keyId: string }>
  /** Available, held, spent. */
  balance(): Promise<readonly string[]>
}

export async function openRelayingTenant(table: Table, granted = '100'): Promise<RelayingTenant> {
  const tenant = await openTenant(table, granted)
  return {
    ...tenant,
    request: (credits, changes = {}) => ({
      tenantId: tenant.tenantId,
      requestId: randomUUID(),
      keyDigest: tenant.keyDigest,
      keyId: tenant.keyDigest.slice(0, 8),
      model: 'chat-default',
      operation: 'create-chat-completion',
      amount: parseCredits(credits),
      reservedAt: Date.now(),
      ...changes,
    }),
    anotherKey: async () => {
      const keyDigest = randomUUID()
      const keyId = keyDigest.slice(0, 8)
      await putApiKey(
        table,
        { keyId, tenantId: tenant.tenantId, models: null, createdAt: 0, digest: keyDigest },
        TESTER,
      )
      return { keyDigest, keyId }
    },
    balance: async () => {
      const { available, held, spent } = (await getTenant(table, tenant.tenantId)).balance
      return [available, held, spent].map(formatCredits)
    },
  }
}

/** `done`, or the name of the error. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'done'
  } catch (error) {
    return error instanceof Error ? error.name : 'unknown'
  }
}

export function countOf(outcomes: readonly string[], name: string): number {
  return outcomes.filter((each) => each === name).length
}
