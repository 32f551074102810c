import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import { bareHostname } from '#core/http.ts'
import { type HttpResponse, type SendOutcome, sendOnce } from '../../platform/http/send-once.ts'
import { type OutboundNetwork, systemNetwork } from './outbound-network.ts'

/**
 * IPv4 ranges outside the public internet: the IANA special-purpose registry without its few globally reachable entries,
 * multicast, the reserved end of the space, and one public-looking address that a large cloud serves internally.
 */
const SPECIAL_IPV4: ReadonlyArray<readonly [network: string, prefixBits: number]> = [
  ['0.0.0.0', 8], // "this network": Linux connects 0.0.0.0 to itself
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and the metadata service of one cloud
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // the host agent of one cloud
  ['169.254.0.0', 16], // link-local: instance metadata, container credentials, tracing daemon
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays, deprecated
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/**
 * All global unicast IPv6 addresses are in 2000::/3. Everything outside is refused: loopback, unspecified, mapped, compatible
 * and translated IPv4, NAT64 (64:ff9b::), unique local, link-local, multicast.
 */
const GLOBAL_IPV6: readonly [network: string, prefixBits: number] = ['2000::', 3]

/** The special ranges inside 2000::/3. */
const SPECIAL_IPV6: ReadonlyArray<readonly [network: string, prefixBits: number]> = [
  ['2001::', 23], // protocol assignments: Teredo (carries IPv4), benchmarking, ORCHID, multicast tunnelling
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4 (carries IPv4)
  ['3fff::', 20], // documentation
]

/** One list per family: in a common list, the families would be compared with each other through mapped addresses. */
const specialIpv4 = new BlockList()
for (const [network, prefixBits] of SPECIAL_IPV4) {
  specialIpv4.addSubnet(network, prefixBits, 'ipv4')
}
const globalIpv6 = new BlockList()
globalIpv6.addSubnet(...GLOBAL_IPV6, 'ipv6')
const specialIpv6 = new BlockList()
for (const [network, prefixBits] of SPECIAL_IPV6) {
  specialIpv6.addSubnet(network, prefixBits, 'ipv6')
}

/**
 * Whether an address belongs to a host on the public internet. False for every special range, for an address with a zone, and
 * for a string that is not an address in canonical form (`2130706433`, `0x7f.1`, `127.1`).
 */
export function isGlobalUnicast(address: string): boolean {
  if (isIPv4(address)) {
    return !specialIpv4.check(address, 'ipv4')
  }
  if (isIPv6(address) && !address.includes('%')) {
    return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
  }
  return false
}

/** Name lookup, TCP and TLS together. A reachable host takes well under one second. */
const CONNECT_MILLISECONDS = 5_000

/** The guard refused the request: nothing was sent, and a retry will not help. The message never holds a path or query. */
export class RequestRefusedError extends Error {
  override readonly name = 'RequestRefusedError'
}

/** The name lookup, the connection, TLS or the response failed. The message never holds a path or query. */
export class RequestFailedError extends Error {
  override readonly name = 'RequestFailedError'
}

/** One request to a URL that came from outside. */
export type GuardedRequest = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** The operator named this origin: plain http and private addresses are allowed. All others need https and a public host. */
  readonly isTrustedOrigin: boolean
  /** From the open connection to the head of the response, and the longest pause after it. */
  readonly replyMilliseconds: number
  /** Ends the request at any time, also while its body is read. */
  readonly signal?: AbortSignal | undefined
} & Partial<OutboundNetwork>

/**
 * Sends one request over its own connection and returns the response as it arrives, a redirect included. The reader reads the
 * body to its end or destroys it.
 *
 * The name is resolved once, every address is checked, the connection goes to a checked address, and no byte is written before
 * the connected address was checked too. TLS certificates are always verified.
 * @throws RequestRefusedError when the guard refuses; RequestFailedError for every failure of the network.
 */
export async function sendGuardedRequest(command: GuardedRequest): Promise<HttpResponse> {
  checkUrl(command.url, command.isTrustedOrigin)
  try {
    const socket = await openSocket(command)
    return await exchange(socket, command)
  } catch (error) {
    if (error instanceof RequestRefusedError || error instanceof RequestFailedError) {
      throw error
    }
    throw new RequestFailedError(describeFailure(error, command.signal), { cause: error })
  }
}

/** The part of the guard that needs no network. */
function checkUrl(url: URL, isTrustedOrigin: boolean): void {
  if (url.protocol !== 'https:' && !(isTrustedOrigin && url.protocol === 'http:')) {
    throw new RequestRefusedError('only https is allowed')
  }
  if (url.username !== '' || url.password !== '') {
    throw new RequestRefusedError('a user name or password in the url is not allowed')
  }
}

/** Resolves a host once, or takes the address in the URL. A name with one private address is refused with all its addresses. */
async function resolveChecked(command: GuardedRequest): Promise<readonly LookupAddress[]> {
  const hostname = bareHostname(command.url)
  const family = isIP(hostname)
  const resolve = command.resolve ?? systemNetwork.resolve
  const addresses = family === 0 ? await resolve(hostname, command.isTrustedOrigin) : [{ address: hostname, family }]
  if (addresses.length === 0) {
    throw new RequestFailedError('the host name has no address')
  }
  if (!command.isTrustedOrigin && !addresses.every(({ address }) => isGlobalUnicast(address))) {
    throw new RequestRefusedError('the host has an address that is not public')
  }
  return addresses
}

async function openSocket(command: GuardedRequest): Promise<Socket> {
  const { url, isTrustedOrigin, signal } = command
  const timeout = AbortSignal.timeout(CONNECT_MILLISECONDS)
  const deadline = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
  const addresses = await untilAborted(resolveChecked(command), deadline)
  const isTls = url.protocol === 'https:'
  const port = url.port === '' ? defaultPort(url) : Number(url.port)
  const dial = command.dial ?? systemNetwork.dial
  const socket = dial({ hostname: bareHostname(url), port, isTls, addresses })
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal: deadline })
    if (!isTrustedOrigin && !isGlobalUnicast(socket.remoteAddress ?? '')) {
      throw new RequestRefusedError('the connection went to an address that is not public')
    }
    return socket
  } catch (error) {
    // A late error of a socket that nobody waits for any more must not end the process.
    socket.on('error', () => {})
    socket.destroy()
    throw error
  }
}

async function exchange(socket: Socket, command: GuardedRequest): Promise<HttpResponse> {
  const { url, method, headers, body, signal, replyMilliseconds } = command
  // Without an agent there is no pool, no keep-alive and no proxy.
  const options = { createConnection: () => socket, path: `${url.pathname}${url.search}` }
  const { outcome } = await sendOnce(
    { isTls: false, host: url.host, options },
    {
      method,
      headers: { ...headers, host: url.host, connection: 'close' },
      body,
      timeouts: {
        connectMilliseconds: replyMilliseconds,
        firstByteMilliseconds: replyMilliseconds,
        idleMilliseconds: replyMilliseconds,
      },
      givenUp: signal,
    },
  )
  if (outcome.kind !== 'response') {
    socket.destroy()
    throw new RequestFailedError(failureOf(outcome))
  }
  endWith(signal, outcome.body)
  return outcome
}

const OUT_OF_TIME = 'the time for the whole request is over'

function failureOf(outcome: Exclude<SendOutcome, HttpResponse>): string {
  switch (outcome.kind) {
    case 'first_byte_timeout':
      return 'no response in time'
    case 'aborted':
    case 'given_up':
      return OUT_OF_TIME
    default:
      // A change of protocol (101) is neither a response nor an error.
      return outcome.reason === 'connection closed'
        ? 'the connection closed without a response'
        : `the network said ${outcome.reason}`
  }
}

/** Breaks the body off when the signal fires before its end. */
function endWith(signal: AbortSignal | undefined, body: HttpResponse['body']): void {
  const end = () => body.fail('given up')
  signal?.addEventListener('abort', end, { once: true })
  body.onceOver(() => signal?.removeEventListener('abort', end))
}

/** Stops waiting when the signal fires. A name lookup itself cannot be cancelled. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const settled = new AbortController()
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => Promise.reject(signal.reason))
  // The loser of the race may reject later.
  aborted.catch(() => {})
  promise.catch(() => {})
  try {
    return await Promise.race([promise, aborted])
  } finally {
    settled.abort()
  }
}

function defaultPort(url: URL): number {
  return url.protocol === 'https:' ? 443 : 80
}

/** A message with a code only: Node's own messages may quote more of a URL than a log should hold. */
function describeFailure(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted === true) {
    return OUT_OF_TIME
  }
  if (typeof error !== 'object' || error === null) {
    return 'the request failed'
  }
  if ('name' in error && (error.name === 'AbortError' || error.name === 'TimeoutError')) {
    return 'no connection in time'
  }
  return 'code' in error && typeof error.code === 'string' ? `the network said ${error.code}` : 'the request failed'
}

/** Discovery documents and key sets are some kilobytes. */
const BODY_BYTES_MAX = 1024 * 1024

/** Three requests one after the other fit into the time of a function of the API. */
const REQUEST_MILLISECONDS = 8_000

/** What a library hands to its fetch. */
type FetchOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * A fetch for libraries, through the guard: one bounded response, no redirect followed.
 * @param trustedOrigin the origin that the operator named, which may be private or plain http.
 * @throws RequestRefusedError, RequestFailedError from the fetch.
 */
export function guardedFetch(trustedOrigin: string, network: Partial<OutboundNetwork> = {}) {
  return async (target: string, { method = 'GET', headers = {}, body }: FetchOptions = {}): Promise<Response> => {
    const url = new URL(target)
    const response = await sendGuardedRequest({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: bodyOf(body),
      isTrustedOrigin: url.origin === trustedOrigin,
      replyMilliseconds: REQUEST_MILLISECONDS,
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      ...network,
    })
    const bytes = await readBounded(response.body)
    const type = response.headers['content-type']
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
      status: response.status,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  }
}

/** @throws RequestRefusedError for a body that is no form. */
function bodyOf(body: unknown): string | undefined {
  if (body === undefined || body === null) {
    return undefined
  }
  if (typeof body === 'string' || body instanceof URLSearchParams) {
    return String(body)
  }
  throw new RequestRefusedError('the body of the request must be a form')
}

async function readBounded(body: Awaited<ReturnType<typeof sendGuardedRequest>>['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let received = 0
  try {
    for (let { value } = await body.next(); value !== undefined; { value } = await body.next()) {
      received += value.length
      if (received > BODY_BYTES_MAX) {
        throw new RequestFailedError('the response is too large')
      }
      chunks.push(value)
    }
  } catch (error) {
    body.destroy()
    throw error instanceof RequestFailedError ? error : new RequestFailedError('the response broke', { cause: error })
  }
  return Buffer.concat(chunks)
}
