import type { Table } from '#adapters/store/table/table.ts'
import { type LedgerRow, readLedgerRows } from '#lambdas/admin/ledger/read-ledger.ts'
import { kindOf } from './marked-request.ts'
import { inputTokens } from './marked-usage.ts'
import type { LoggedRequest, RequestLog } from './request-log.ts'
import type { Outcome } from './send-marked.ts'
import type { TrafficTenant } from './traffic-tenants.ts'

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
