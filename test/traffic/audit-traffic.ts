import * as z from 'zod'
import { type LedgerRow, readLedgerRows } from '#lambdas/admin/read-ledger.ts'
import type { Table } from '#store/table/table.ts'
import {
  formatMark,
  grantedCredits,
  inputTokens,
  kindOf,
  type Mark,
  marksIn,
  type Outcome,
  ratePerMinute,
  type TrafficTenant,
} from './marked-traffic.ts'

const requestLine = z.object({
  message: z.literal('request'),
  requestId: z.string(),
  operation: z.string(),
  statusCode: z.number().optional(),
  tenantId: z.string().optional(),
})

/** What a gateway's log says of one request. */
export type LoggedRequest = z.infer<typeof requestLine>

/** Keeps what the log of a gateway says of requests. */
export class RequestLog {
  /** By request id. */
  readonly requests = new Map<string, LoggedRequest>()
  /** Ids that have more than one line. */
  readonly repeated: string[] = []
  /** Marks in lines of the log: nothing of a prompt or a reply belongs there. */
  readonly marks: string[] = []
  readonly #onError: (line: string) => void

  /** @param onError hears of each line of the levels ERROR and above. */
  constructor(onError: (line: string) => void = () => undefined) {
    this.#onError = onError
  }

  /** Takes one line. */
  push(line: string): void {
    if (line.startsWith('{"_aws"') || !line.startsWith('{')) {
      return
    }
    this.marks.push(...marksIn(line))
    const json: unknown = JSON.parse(line)
    const { data } = requestLine.safeParse(json)
    if (data === undefined) {
      if (line.includes('"level":"ERROR"')) {
        this.#onError(line)
      }
      return
    }
    if (this.requests.has(data.requestId)) {
      this.repeated.push(data.requestId)
    }
    this.requests.set(data.requestId, data)
  }
}

/** Microcredits of a credit. */
const CREDIT = 1_000_000

/** What a response has of another request or tenant, or lacks of its own; empty when it is in order. */
export function checkOutcome(outcome: Outcome): readonly string[] {
  const { status, end } = outcome
  if (status === undefined) {
    return end === 'left' ? [] : ['no response']
  }
  const whole = end === 'whole' ? checkWhole(outcome) : end === 'broken' ? ['the response broke off'] : []
  return [...foreignParts(outcome), ...whole]
}

/** What a response has of another request or tenant; a response that has begun has a request id of its own. */
export function foreignParts({ mark, headers, body, status }: Outcome): readonly string[] {
  if (status === undefined) {
    return []
  }
  const own = formatMark(mark)
  const all = [...marksIn(decodeHeaders(headers)), ...marksIn(body), ...marksInImages(body)]
  return [
    ...all.filter((each) => each !== own).map((each) => `the response has ${each}`),
    ...checkRate(headers['x-ratelimit-limit-requests'], mark),
    ...(typeof headers['x-request-id'] === 'string' ? [] : ['no request id']),
  ]
}

function decodeHeaders(headers: Outcome['headers']): string {
  return Object.values(headers)
    .flatMap((value) => value ?? [])
    .map((value) => (value.includes('%') ? decodeURIComponent(value) : value))
    .join('\n')
}

function marksInImages(body: string): readonly string[] {
  const images = [...body.matchAll(/"b64_json":"([^"]*)"/g)]
  return images.flatMap(([, base64 = '']) => marksIn(Buffer.from(base64, 'base64').toString('utf8')))
}

function checkRate(limit: unknown, { tenant }: Mark): readonly string[] {
  return limit === String(ratePerMinute(tenant)) ? [] : [`the limit of the key is ${limit}`]
}

function checkWhole({ kind, mark, status, headers, body }: Outcome): readonly string[] {
  const { status: expected, cost, model, isStream = false } = kindOf(kind)
  if (status !== expected) {
    return [`status ${status}: ${body.slice(0, 200)}`]
  }
  const credits = cost === undefined ? undefined : cost(mark) / CREDIT
  const shown = isStream ? lastCost(body) : headerCost(headers['x-reelgate-cost'])
  const echoes = kind === 'models' || kind === 'model' || kind === 'too expensive' || body.includes(formatMark(mark))
  return [
    ...(echoes ? [] : ['the response lacks its mark']),
    ...(shown === credits ? [] : [`the cost is ${shown} and not ${credits}`]),
    ...(model === undefined || kind === 'image' || body.includes(`"${model}"`)
      ? []
      : [`the response does not name ${model}`]),
    ...(kind === 'embedding' ? checkVector(body, mark) : []),
    ...(kind === 'too expensive' ? checkBalance(body, mark) : []),
    ...(isStream && !body.endsWith('data: [DONE]\n\n') ? ['the stream has no end'] : []),
  ]
}

function headerCost(value: unknown): number | undefined {
  return typeof value === 'string' ? Number(value) : undefined
}

function lastCost(stream: string): number | undefined {
  const found = [...stream.matchAll(/"cost":([\d.e-]+)/g)].at(-1)?.[1]
  return found === undefined ? undefined : Number(found)
}

function checkVector(body: string, { tenant, request }: Mark): readonly string[] {
  return body.includes(`[${tenant},${request},0.5]`) ? [] : ['the vector is another']
}

/** The balance in the message of a refusal is the tenant's own. */
function checkBalance(body: string, { tenant }: Mark): readonly string[] {
  const available = Number(/but ([\d.]+) are available/.exec(body)?.[1])
  const granted = grantedCredits(tenant)
  return available > granted - grantedCredits(0) && available <= granted ? [] : [`the balance is ${available}`]
}

type Traffic = {
  readonly tenants: readonly TrafficTenant[]
  readonly outcomes: readonly Outcome[]
  readonly log: RequestLog
}

/** The id that a response has; undefined without one. */
function requestIdOf({ headers }: Outcome): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' ? id : undefined
}

/** Log lines that belong to another request or tenant, and requests without a line. */
export function auditLog({ tenants, outcomes, log }: Traffic): readonly string[] {
  const ids = outcomes.flatMap((outcome) => requestIdOf(outcome) ?? [])
  const repeated = ids.length - new Set(ids).size
  const known = new Map(outcomes.map((outcome) => [requestIdOf(outcome), outcome]))
  const broken = outcomes.flatMap((outcome) => {
    const id = requestIdOf(outcome)
    return id === undefined ? [] : checkLine(log.requests.get(id), outcome, tenants)
  })
  return [
    ...broken,
    ...(repeated === 0 ? [] : [`${repeated} request ids on two responses`]),
    ...log.repeated.map((id) => `two lines of request ${id}`),
    ...log.marks.map((mark) => `the log has ${mark}`),
    ...tenants.flatMap(({ id }, tenant) => checkStrangers({ id, tenant }, { outcomes, log }, known)),
  ]
}

function checkLine(
  line: LoggedRequest | undefined,
  { mark, kind, status }: Outcome,
  tenants: readonly TrafficTenant[],
): readonly string[] {
  if (line === undefined) {
    return ['a response without a line in the log']
  }
  const expected = [tenants[mark.tenant]?.id, kindOf(kind).operation, status]
  const found = [line.tenantId, line.operation, line.statusCode]
  return expected.every((value, index) => value === found[index]) ? [] : [`the log says ${found}, not ${expected}`]
}

/** Lines that no response names belong to clients that left without the head of one. */
function checkStrangers(
  { id, tenant }: { readonly id: string; readonly tenant: number },
  { outcomes, log }: Pick<Traffic, 'outcomes' | 'log'>,
  known: ReadonlyMap<string | undefined, Outcome>,
): readonly string[] {
  const strange = [...log.requests.values()].filter(
    ({ tenantId, requestId }) => tenantId === id && !known.has(requestId),
  )
  const left = outcomes.filter(({ mark, status }) => mark.tenant === tenant && status === undefined)
  return strange.length <= left.length
    ? []
    : [`tenant ${tenant}: ${strange.length} lines and ${left.length} clients that left`]
}

/** What the audit of the ledger found. */
export type LedgerAudit = {
  readonly broken: readonly string[]
  readonly settled: number
  readonly released: number
}

/** Compares the ledger with what clients saw: each row belongs to its own request, tenant and key, with its own amount. */
export async function auditLedger(
  table: Table,
  { tenants, outcomes }: Pick<Traffic, 'tenants' | 'outcomes'>,
): Promise<LedgerAudit> {
  const broken: string[] = []
  let [settled, released] = [0, 0]
  for (const [tenant, { id, keyId }] of tenants.entries()) {
    const own = outcomes.filter(({ mark }) => mark.tenant === tenant)
    const rows = (await readLedgerRows(table, id)).filter(({ kind }) => kind === 'settle' || kind === 'release')
    const byRequest = new Map(rows.map((row) => [row.job ?? '', row]))
    settled += rows.filter(({ kind }) => kind === 'settle').length
    released += rows.filter(({ kind }) => kind === 'release').length
    for (const outcome of own) {
      const requestId = requestIdOf(outcome)
      if (requestId !== undefined) {
        broken.push(...checkRow(byRequest.get(requestId), outcome, keyId))
        byRequest.delete(requestId)
      }
    }
    const left = own.filter(({ status, end }) => status === undefined || end === 'broken').length
    if (byRequest.size > left) {
      broken.push(`tenant ${tenant}: ${byRequest.size} rows of nobody, and ${left} clients without a whole response`)
    }
    broken.push(...[...byRequest.values()].flatMap((row) => checkUsage(row, tenant)))
  }
  return { broken, settled, released }
}

function checkRow(row: LedgerRow | undefined, outcome: Outcome, keyId: string): readonly string[] {
  const { kind, mark, end } = outcome
  const { cost, operation, model } = kindOf(kind)
  if (cost === undefined) {
    return row === undefined ? [] : [`a row of a ${kind}`]
  }
  if (row === undefined) {
    // What a killed gateway had open is given back in the row of its hold.
    return end === 'broken' ? [] : [`no row of a ${kind}`]
  }
  if (row.kind !== 'settle' || row.isEstimated) {
    // Who left or lost the gateway may owe an estimate or nothing; a whole response was billed by its usage.
    return end === 'whole' ? [`a whole ${kind} has a ${row.kind}${row.isEstimated ? ' by estimate' : ''}`] : []
  }
  const expected = [keyId, operation, model, BigInt(cost(mark))]
  const found = [row.keyId, row.operation, row.model, row.actual]
  return expected.every((value, index) => value === found[index]) ? [] : [`the row says ${found}, not ${expected}`]
}

/** A row of a client that left tells its tenant by its input. */
function checkUsage({ usage, isEstimated, operation }: LedgerRow, tenant: number): readonly string[] {
  if (usage === null || isEstimated || operation === 'create-image') {
    return []
  }
  const expected = inputTokens({ tenant, request: 0 })
  return usage.inputTokens === expected ? [] : [`tenant ${tenant}: a row of ${usage.inputTokens} tokens of input`]
}
