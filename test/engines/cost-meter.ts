import { type IncomingHttpHeaders, request as sendRequest } from 'node:http'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { type Loopback, listenHttp } from '../platform/http/loopback.ts'

/** What was asked of AWS, by the names of its operations, and the table units that this consumed. */
export type Cost = {
  readonly requests: Readonly<Record<string, number>>
  readonly readUnits: number
  readonly writeUnits: number
}

type Sums = { readonly requests: Map<string, number>; readUnits: number; writeUnits: number }

/** Adds up requests and units until they are taken. */
export class CostMeter {
  #sums: Sums = emptySums()

  addRequest(operation: string): void {
    this.#sums.requests.set(operation, (this.#sums.requests.get(operation) ?? 0) + 1)
  }

  addUnits({ readUnits = 0, writeUnits = 0 }: Partial<Pick<Cost, 'readUnits' | 'writeUnits'>>): void {
    this.#sums.readUnits += readUnits
    this.#sums.writeUnits += writeUnits
  }

  add({ requests, ...units }: Cost): void {
    for (const [operation, count] of Object.entries(requests)) {
      this.#sums.requests.set(operation, (this.#sums.requests.get(operation) ?? 0) + count)
    }
    this.addUnits(units)
  }

  /** What was added since the last time. */
  take(): Cost {
    const { requests, ...units } = this.#sums
    this.#sums = emptySums()
    const sorted = [...requests].sort(([left], [right]) => left.localeCompare(right))
    return { requests: Object.fromEntries(sorted), ...units }
  }

  /** What happens meanwhile, metered apart from what it happens in. */
  async apart(run: () => Promise<unknown>): Promise<Cost> {
    const around = this.#sums
    this.#sums = emptySums()
    try {
      await run()
      return this.take()
    } finally {
      this.#sums = around
    }
  }
}

function emptySums(): Sums {
  return { requests: new Map(), readUnits: 0, writeUnits: 0 }
}

type Capacity = { readonly CapacityUnits: number }
type Answer = { readonly ConsumedCapacity?: Capacity | readonly Capacity[]; readonly __type?: string }

/** Hears of every request before the table does. */
export type TableWatch = (operation: string, input: Readonly<Record<string, unknown>>) => void

type Options = {
  readonly watch?: TableWatch | undefined
  /** The error that the table returns now, such as `ThrottlingException`; undefined while it serves. */
  readonly fault?: () => string | undefined
  /** Meters reads of the switches, which depend on the time; `meter` does unless given. */
  readonly switches?: CostMeter
}

/** Stands between the table's clients and its engine, and meters each request by what the engine says that it consumed. */
export async function startMeteredTable(
  engineUrl: string,
  meter: CostMeter,
  { watch, fault = () => undefined, switches = meter }: Options = {},
): Promise<Loopback> {
  return await listenHttp(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const input: Record<string, unknown> = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'))
    const error = fault()
    if (error !== undefined) {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify({ __type: error }))
      return
    }
    watch?.(operation, input)
    const answer = await fetch(engineUrl, {
      method: 'POST',
      headers: forwarded(request.headers),
      body: JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' }),
    })
    const text = await answer.text()
    const counting = isOfSwitches(operation, input) ? switches : meter
    counting.addRequest(operation)
    const units = consumed(JSON.parse(text)) ?? refused(operation, input)
    counting.addUnits(/Get|Query/.test(operation) ? { readUnits: units } : { writeUnits: units })
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text)
  })
}

function isOfSwitches(operation: string, { Key }: Record<string, unknown>): boolean {
  return operation === 'GetItem' && JSON.stringify(Key).includes(`"${tableKeys.switches().PK}"`)
}

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['authorization', 'content-type', 'x-amz-date', 'x-amz-target']
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]))
}

function consumed({ ConsumedCapacity }: Answer): number | undefined {
  return ConsumedCapacity === undefined
    ? undefined
    : [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
}

/** Errors do not say what they consumed: as much as the write would have, and every item here is below 1 KB. */
function refused(operation: string, { TransactItems }: Record<string, unknown>): number {
  return operation === 'TransactWriteItems' && Array.isArray(TransactItems) ? 2 * TransactItems.length : 1
}

/**
 * Stands between the bucket's clients and its engine, and meters each request.
 * @param watch hears of every request, with its path.
 */
export async function startMeteredBucket(
  engineUrl: string,
  meter: CostMeter,
  watch?: (operation: string, path: string) => void,
): Promise<Loopback> {
  const { hostname, port } = new URL(engineUrl)
  return await listenHttp((request, response) => {
    const { method = '', url = '', headers } = request
    const { pathname, searchParams } = new URL(url, engineUrl)
    const operation = operationOf(method, searchParams)
    meter.addRequest(operation)
    watch?.(operation, pathname)
    // The host header stays as it was signed.
    const onward = sendRequest({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
}

const PLAIN: Readonly<Record<string, string>> = { GET: 'GetObject', PUT: 'PutObject', DELETE: 'DeleteObject' }
const OF_PARTS: Readonly<Record<string, string>> = { PUT: 'UploadPart', POST: 'CompleteMultipartUpload' }

function operationOf(method: string, query: URLSearchParams): string {
  const names = query.has('uploadId') ? OF_PARTS : PLAIN
  return query.has('uploads') ? 'CreateMultipartUpload' : (names[method] ?? method)
}

type Executions = {
  /** Begins an execution; the answer to whoever started it waits for this. */
  readonly start: (name: string, input: string) => Promise<void>
}

/** Step Functions, as far as the functions use them; each request is metered. */
export async function startMeteredExecutions(meter: CostMeter, executions: Executions): Promise<Loopback> {
  return await listenHttp(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    meter.addRequest(operation)
    const input: { name: string; input: string } = JSON.parse(body)
    if (operation === 'StartExecution') {
      await executions.start(input.name, input.input)
    }
    const now = Date.now() / 1000
    const answer = { executionArn: LOCAL_STATE_MACHINE_ARN, startDate: now, status: 'RUNNING' }
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer))
  })
}
