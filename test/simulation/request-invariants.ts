import { unnamedRest } from '#store/relay-ledger/hold.ts'
import type { RelayedRequest } from './relay-clients.ts'
import { amount, type Item, repeated, rule, type Snapshot, sum } from './snapshot.ts'

/** No function lives for so long: what is older may be given back (docs/architecture.md). */
const LIFETIME_MILLISECONDS = 16 * 60 * 1000
/** Clocks of processes differ by less than this. */
const CLOCKS_DIFFER_MILLISECONDS = 15_000

type Requests = ReadonlyMap<string, RelayedRequest>
type Looks = { readonly before: Snapshot | undefined; readonly now: Snapshot }
type Known = { readonly requests: Requests; readonly nowMilliseconds: number }

/** Where the table has each request: at most one place, but for what a hold holds without names. */
type Places = {
  readonly rows: ReadonlyMap<unknown, Item>
  /** Open requests by id, with their amounts. */
  readonly open: ReadonlyMap<string, bigint>
}

/** The rules of relayed requests: what the table has of each, and what its caller and its process know. */
export function checkRequests(known: Known, { before, now }: Looks): string[] {
  const { requests, nowMilliseconds } = known
  const resolutions = now.rows.filter(({ item }) => isOfRequest(item, now))
  const ofHolds = resolutions.filter(({ item }) => item.requests !== undefined)
  const rows = new Map(resolutions.filter((row) => !ofHolds.includes(row)).map(({ item }) => [item.job, item]))
  const named = namedRequests(now)
  const places = { rows, open: new Map(named) }
  const unnamed = [...requests.values()].filter(
    ({ reservation: { requestId } }) => !rows.has(requestId) && !places.open.has(requestId),
  )
  return [
    ...[...requests.values()].flatMap((request) => checkRequest(request, places, nowMilliseconds)),
    ...[...rows.keys(), ...places.open.keys()].flatMap((id) =>
      rule(requests.has(String(id)), `the ledger has a request ${id} that nobody sent`),
    ),
    ...repeated(named.map(([id]) => id)).map((id) => `request ${id} is open twice`),
    ...[...places.open.keys()].flatMap((id) => checkNew(requests.get(id), before)),
    ...now.holds.flatMap((hold) => checkHold(hold)),
    ...ofHolds.flatMap(({ item }) =>
      rule(isOld(Number(item.reservedAt), nowMilliseconds), `the rest of hold ${item.job} was given back too early`),
    ),
    ...now.balances.flatMap(([tenantId]) => checkUnnamed({ tenantId, unnamed, now, ofHolds })),
  ]
}

function isOfRequest({ job }: Item, { jobs }: Snapshot): boolean {
  return job !== undefined && !jobs.has(String(job))
}

function namedRequests({ holds }: Snapshot): readonly (readonly [string, bigint])[] {
  return holds.flatMap(({ open }) => open.map(({ id, amount: held }) => [id, held] as const))
}

function isOld(reservedAt: number, nowMilliseconds: number): boolean {
  return nowMilliseconds >= reservedAt + LIFETIME_MILLISECONDS - CLOCKS_DIFFER_MILLISECONDS
}

function checkRequest(request: RelayedRequest, { rows, open }: Places, nowMilliseconds: number): string[] {
  const { requestId, reservedAt, amount: locked } = request.reservation
  const name = `request ${requestId}`
  const row = rows.get(requestId)
  const held = open.get(requestId)
  const isSettled = row?.kind === 'settle'
  const [told] = request.resolved
  return [
    ...rule(held === undefined || row === undefined, `${name} is open and resolved`),
    ...rule(held === undefined || held === locked, `${name} is open with another amount`),
    ...rule(row === undefined || amount(row.amount) === locked, `${name} was resolved with another amount`),
    ...rule(!isSettled || request.locked === 'yes', `${name} was billed although its caller was refused`),
    ...rule(!isSettled || isAsked(request, row), `${name} was billed ${row?.actual}, which nobody asked for`),
    ...rule(
      row?.kind !== 'release' ||
        request.locked !== 'yes' ||
        isAsked(request, row) ||
        isOld(reservedAt, nowMilliseconds),
      `${name} was given back while its process could still bill it`,
    ),
    ...rule(request.resolved.length <= 1, `${name} was resolved more than once`),
    ...rule(told === undefined || isSame(told, row), `${name} was said to be resolved otherwise than it is`),
  ]
}

function isAsked({ asked }: RelayedRequest, row: Item | undefined): boolean {
  return asked.some((resolution) => isSame(resolution, row))
}

function isSame(resolution: RelayedRequest['asked'][number], row: Item | undefined): boolean {
  const actual = resolution.kind === 'settle' ? resolution.actual : 0n
  return row !== undefined && row.kind === resolution.kind && amount(row.actual) === actual
}

function checkNew(request: RelayedRequest | undefined, before: Snapshot | undefined): string[] {
  if (request === undefined || before === undefined) {
    return []
  }
  const { requestId, keyDigest, keyRevision } = request.reservation
  const isNew = !namedRequests(before).some(([id]) => id === requestId)
  const key = before.keys.get(keyDigest)
  return [
    ...rule(
      !isNew || isKnownUnnamed(before) || key?.state === 'active',
      `request ${requestId} was locked with a key that is not active`,
    ),
    ...rule(
      !isNew || isKnownUnnamed(before) || key?.revision === keyRevision,
      `request ${requestId} was locked with a key that had changed`,
    ),
  ]
}

/** A request that was held without a name gets one when there is room: then it is not new. */
function isKnownUnnamed({ holds }: Snapshot): boolean {
  return holds.some((hold) => unnamedRest(hold).requests > 0)
}

function checkHold(hold: Snapshot['holds'][number]): string[] {
  const rest = unnamedRest(hold)
  const name = `hold ${hold.holdId}`
  return [
    ...rule(rest.requests >= 0, `${name} names more requests than it has`),
    ...rule(rest.requests > 0 || rest.amount === 0n, `${name} holds an amount for no request`),
    ...rule(rest.amount >= 0n, `${name} names more than it holds`),
  ]
}

type Unnamed = {
  readonly tenantId: string
  /** Requests of all tenants without a row and without a name in a hold. */
  readonly unnamed: readonly RelayedRequest[]
  readonly now: Snapshot
  readonly ofHolds: readonly { readonly tenantId: string; readonly item: Item }[]
}

/** What holds hold, or held, without names is the sum of requests that have no other place, and of every such request that was locked. */
function checkUnnamed({ tenantId, unnamed, now, ofHolds }: Unnamed): string[] {
  const rests = now.holds.filter((hold) => hold.tenantId === tenantId).map(unnamedRest)
  const released = ofHolds.filter((row) => row.tenantId === tenantId)
  const held = sum([...rests.map((rest) => rest.amount), ...released.map(({ item }) => amount(item.amount))])
  const own = unnamed.filter(({ reservation }) => reservation.tenantId === tenantId)
  const sure = sum(own.filter(({ locked }) => locked === 'yes').map(({ reservation }) => reservation.amount))
  const most = sum(own.map(({ reservation }) => reservation.amount))
  return [
    ...rule(held >= sure, `${tenantId}: requests that were locked are nowhere`),
    ...rule(held <= most, `${tenantId}: more is held without names than there are requests`),
  ]
}
