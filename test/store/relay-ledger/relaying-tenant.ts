import { randomUUID } from 'node:crypto'
import { formatCredits, parseCredits } from '#core/money.ts'
import { AwsConnectionError, AwsServiceError, type CallAws, callAwsService } from '#platform/aws/call-aws-service.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { openLeanTable } from '#store/table/lean-table.ts'
import type { Table } from '#store/table/table.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { startTestTable, type TableWithClient } from '../../engines/test-table.ts'
import { openTenant, TESTER, type TestTenant } from '../../engines/video-jobs.ts'

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

/** What befalls one call: nothing, its request is lost, or its answer, or another write of the same items is under way. */
type Fate = 'pass' | 'lost_before' | 'lost_after' | 'conflict'

/** What DynamoDB answers then; the local engine never does. */
const CONFLICT = new AwsServiceError(400, undefined, {
  __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
  CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'ConditionalCheckFailed' }],
})

/** One transaction that reached the table, by what it says of each of its items. */
export type SentTransaction = { readonly token: string; readonly kinds: readonly string[]; readonly isRepeat: boolean }

/** The engine with both of its clients, and a hand on every call of the lean one. */
export async function startRelayTable() {
  const engine = await startTestTable()
  const environment = { ...process.env }
  const transactions: SentTransaction[] = []
  const seen = new Set<string>()
  const faults: { fate: (target: string) => Fate | Promise<Fate> } = { fate: () => 'pass' }
  const call: CallAws = async (request) => {
    const fate = await faults.fate(request.target)
    if (fate === 'lost_before') {
      throw new AwsConnectionError('the request was lost')
    }
    if (request.target.endsWith('.TransactWriteItems')) {
      if (fate === 'conflict') {
        throw CONFLICT
      }
      transactions.push(readTransaction(request.body, seen))
    }
    const answer = await callAwsService(request)
    if (fate === 'lost_after') {
      throw new AwsConnectionError('the answer was lost')
    }
    return answer
  }
  /** Both clients over a table of its own. Retries wait for nothing. */
  const fresh = async (): Promise<{ table: TableWithClient; lean: Table }> => {
    const table = await engine.fresh()
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
      TABLE_NAME: table.name,
    })
    transactions.length = 0
    faults.fate = () => 'pass'
    return { table, lean: openLeanTable({ call, clock: { pause: async () => undefined } }) }
  }
  const close = async () => {
    process.env = environment
    await engine.close()
  }
  return { fresh, close, transactions, faults }
}

function readTransaction(body: string, seen: Set<string>): SentTransaction {
  const { ClientRequestToken: token, TransactItems } = JSON.parse(body)
  const isRepeat = seen.has(token)
  seen.add(token)
  return { token, isRepeat, kinds: TransactItems.flatMap((item: object) => Object.keys(item)) }
}
