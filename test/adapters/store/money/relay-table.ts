import { AwsConnectionError, AwsServiceError } from '#adapters/aws/aws-service-error.ts'
import { type CallAws, callAwsService } from '#adapters/aws/call-aws-service.ts'
import { openLeanTable } from '#adapters/store/table/lean-table.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { startTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'

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

export type RelayTable = Awaited<ReturnType<typeof startRelayTable>>

function readTransaction(body: string, seen: Set<string>): SentTransaction {
  const { ClientRequestToken: token, TransactItems } = JSON.parse(body)
  const isRepeat = seen.has(token)
  seen.add(token)
  return { token, isRepeat, kinds: TransactItems.flatMap((item: object) => Object.keys(item)) }
}
