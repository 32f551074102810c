import type { RelayedRequest } from './relayed-request.ts'
import { rule } from './rule.ts'
import type { Item } from './simulated-table.ts'
import { amount, type Snapshot } from './snapshot.ts'

/** No function lives for so long: Reconcile may give back what is older (docs/architecture.md). */
const LIFETIME_MILLISECONDS = 16 * 60 * 1000
/** Clocks of processes differ by less than this. */
const CLOCKS_DIFFER_MILLISECONDS = 15_000

type Looks = { readonly before: Snapshot | undefined; readonly now: Snapshot }
type Known = { readonly requests: ReadonlyMap<string, RelayedRequest>; readonly nowMilliseconds: number }

/** The rules of relayed requests: what the table has of each, and what its caller and its process know. */
export function checkRequests({ requests, nowMilliseconds }: Known, { before, now }: Looks): string[] {
  const rows = new Map(now.rows.filter(({ item }) => isOfRequest(item, now)).map(({ item }) => [item.job, item]))
  return [
    ...[...requests.values()].flatMap((request) =>
      checkRequest(request, { row: rows.get(request.reservation.requestId), now, nowMilliseconds }),
    ),
    ...[...rows.keys()].flatMap((id) =>
      rule(requests.has(String(id)), `the ledger has a request ${id} that nobody sent`),
    ),
    ...[...now.requests.keys()].flatMap((id) => checkNew(requests.get(id), { id, before })),
  ]
}

function isOfRequest({ job }: Item, { jobs }: Snapshot): boolean {
  return job !== undefined && !jobs.has(String(job))
}

type Found = { readonly row: Item | undefined; readonly now: Snapshot; readonly nowMilliseconds: number }

function checkRequest(request: RelayedRequest, { row, now, nowMilliseconds }: Found): string[] {
  const { requestId, reservedAt, amount: locked } = request.reservation
  const name = `request ${requestId}`
  const isOpen = now.requests.has(requestId)
  const isSettled = row?.kind === 'settle'
  const isOld = nowMilliseconds >= reservedAt + LIFETIME_MILLISECONDS - CLOCKS_DIFFER_MILLISECONDS
  const [told] = request.resolved
  return [
    ...rule(!(isOpen && row !== undefined), `${name} is open and resolved`),
    ...rule(
      request.locked !== 'yes' || isOpen || row !== undefined || hasUnnamed(now, request),
      `${name} was locked and is neither open nor resolved`,
    ),
    ...rule(row === undefined || amount(row.amount) === locked, `${name} was resolved with another amount`),
    ...rule(!isSettled || request.locked === 'yes', `${name} was billed although its caller was refused`),
    ...rule(!isSettled || isAsked(request, row), `${name} was billed ${row?.actual}, which nobody asked for`),
    ...rule(
      row?.kind !== 'release' || isAsked(request, row) || isOld,
      `${name} was given back while its process could still bill it`,
    ),
    ...rule(request.resolved.length <= 1, `${name} was resolved more than once`),
    ...rule(told === undefined || isSame(told, row), `${name} was said to be resolved otherwise than it is`),
  ]
}

/** Whether the request may be one that its hold has no room to name. */
function hasUnnamed({ unnamed }: Snapshot, { reservation }: RelayedRequest): boolean {
  return unnamed.some(({ tenantId, requests }) => tenantId === reservation.tenantId && requests > 0)
}

function isAsked({ asked }: RelayedRequest, row: Item | undefined): boolean {
  return asked.some((resolution) => isSame(resolution, row))
}

function isSame(resolution: RelayedRequest['asked'][number], row: Item | undefined): boolean {
  const actual = resolution.kind === 'settle' ? resolution.actual : 0n
  return row !== undefined && row.kind === resolution.kind && amount(row.actual) === actual
}

type Appeared = { readonly id: string; readonly before: Snapshot | undefined }

function checkNew(request: RelayedRequest | undefined, { id, before }: Appeared): string[] {
  if (request === undefined) {
    return [`somebody locked an amount for a request ${id} that nobody sent`]
  }
  const isNew = before !== undefined && !before.requests.has(id) && !hasUnnamed(before, request)
  const key = before?.keys.get(request.reservation.keyDigest)
  return rule(!isNew || key === 'active', `request ${id} was locked with a key that is not active`)
}
