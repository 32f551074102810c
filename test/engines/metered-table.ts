import type { IncomingHttpHeaders } from 'node:http'
import { tableKeys } from '#store/table/table-keys.ts'
import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'
import type { CostMeter } from './cost-meter.ts'

type Capacity = { readonly CapacityUnits: number }
type Answer = { readonly ConsumedCapacity?: Capacity | readonly Capacity[]; readonly __type?: string }

/** Hears of every request before the table does. */
export type TableWatch = (operation: string, input: Readonly<Record<string, unknown>>) => void

type Options = {
  readonly watch?: TableWatch | undefined
  /** Meters reads of the switches, which depend on the time; `meter` does unless given. */
  readonly switches?: CostMeter
}

/** Stands between the table's clients and its engine, and meters each request by what the engine says that it consumed. */
export async function startMeteredTable(
  engineUrl: string,
  meter: CostMeter,
  { watch, switches = meter }: Options = {},
): Promise<Loopback> {
  return await listenHttp(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const input: Record<string, unknown> = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'))
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
