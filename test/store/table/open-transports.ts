import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openLeanTable } from '#store/table/lean-table.ts'
import { createDocumentClient, openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { startTestTable } from '../../engines/test-table.ts'
import { listenHttp } from '../../platform/http/loopback.ts'

/** What becomes of one request: an error of the service, a lost request, or a lost response. */
export type Fault = { readonly status: number; readonly body: object } | 'request lost' | 'response lost'

/** A request as it came over the wire. */
type Received = { readonly operation: string; readonly input: Readonly<Record<string, unknown>> }

/** The local engine behind a front that can fail, and both transports of the table to it. Waits between tries are recorded. */
export async function openTransports() {
  const engine = await startTestTable()
  const received: Received[] = []
  const pauses: number[] = []
  const faults: Fault[] = []
  const front = await listenHttp(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('utf8')
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    received.push({ operation, input: JSON.parse(text) })
    const fault = faults.shift()
    if (fault === 'request lost') {
      request.socket.destroy()
      return
    }
    const reply = typeof fault === 'object' ? fault : await pass(engine.endpoint, request.headers, text)
    if (fault === 'response lost') {
      request.socket.destroy()
      return
    }
    response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(reply.body))
  })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  // One try: tries are counted here, and those of the SDK would come on top.
  const sdk = new DynamoDBClient({ endpoint: front.origin, region: 'us-east-1', credentials, maxAttempts: 1 })
  const environment = { ...process.env }
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: front.origin,
  })
  /** An empty table through one of the transports. */
  const open = async (transport: 'sdk' | 'lean'): Promise<Table> => {
    const { name } = await engine.fresh()
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds)
    }
    for (const list of [received, pauses, faults]) {
      list.length = 0
    }
    return transport === 'sdk'
      ? openTable({ client: createDocumentClient(sdk), name, clock: { pause } })
      : openLeanTable({ name, clock: { pause } })
  }
  const close = async () => {
    process.env = environment
    sdk.destroy()
    await front.stop()
    await engine.close()
  }
  return { open, close, received, pauses, faults }
}

async function pass(endpoint: string, headers: NodeJS.Dict<string | string[]>, body: string) {
  const names = ['authorization', 'content-type', 'x-amz-date', 'x-amz-target']
  const kept = Object.fromEntries(names.map((name) => [name, String(headers[name])]))
  const reply = await fetch(endpoint, { method: 'POST', headers: kept, body })
  return { status: reply.status, body: Object(await reply.json()) }
}

/** The service refuses with an error of this name. */
export function refusal(name: string, fields: object = {}): Fault {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name, ...fields } }
}

/** A cancelled transaction, with one reason for each of its writes. */
export function cancellation(...codes: string[]): Fault {
  return refusal('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) })
}
