import { promises as dns, type LookupAddress } from 'node:dns'
import { readFileSync } from 'node:fs'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Places } from '../../platform/concurrency.ts'

/** The sources of addresses: the machine's own, except in tests. */
export type NameSources = {
  /** Queries name servers over sockets, without a thread of the process. */
  readonly query: (hostname: string) => Promise<readonly LookupAddress[]>
  /** The machine's resolver with all its settings. It occupies a thread of the process while it waits. */
  readonly lookup: (hostname: string) => Promise<readonly LookupAddress[]>
  readonly hostsFile: string
}

/** Of the two that libuv gives to lookups, half of its threads: the names of upstreams and of AWS need the other one. */
const THREADS_MAX = 1

const threads = new Places(THREADS_MAX)

/** The timeout of one query to one name server. Connecting has five seconds in all. */
const QUERY_MILLISECONDS = 2_000
const QUERY_TRIES = 2

const SYSTEM_SOURCES: NameSources = {
  query: (hostname) => queryNameServers(hostname),
  lookup: (hostname) => dns.lookup(hostname, { all: true }),
  hostsFile: '/etc/hosts',
}

/** The name servers do not know the name or cannot be reached. The machine's resolver may still know the name. */
const UNKNOWN_TO_NAME_SERVERS: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

/**
 * Resolves a host name once, to all its addresses.
 *
 * Most names come from tenants, and the operator of a name server decides how long a query takes. Such a name is looked for in
 * the hosts file and asked of name servers, without a thread of the process: what only the machine knows besides (search list, local
 * network) is not public. The operator's names may be of that kind, so they are left to the machine's resolver, one at a time.
 * @param isTrusted the operator named the host.
 * @throws the resolver's error, with its code.
 */
export async function resolveName(
  hostname: string,
  isTrusted: boolean,
  sources: NameSources = SYSTEM_SOURCES,
): Promise<readonly LookupAddress[]> {
  const name = hostname.replace(/\.$/, '').toLowerCase()
  const inHostsFile = findInHostsFile(name, sources.hostsFile)
  if (!isTrusted) {
    return inHostsFile.length > 0 ? inHostsFile : await sources.query(hostname)
  }
  if (inHostsFile.length > 0 || isOfThisMachine(name)) {
    return await lookupApart(hostname, sources)
  }
  try {
    return await sources.query(hostname)
  } catch (error) {
    if (error instanceof Error && 'code' in error && UNKNOWN_TO_NAME_SERVERS.has(error.code)) {
      return await lookupApart(hostname, sources)
    }
    throw error
  }
}

async function lookupApart(hostname: string, { lookup }: NameSources): Promise<readonly LookupAddress[]> {
  const giveBack = await threads.take()
  try {
    return await lookup(hostname)
  } finally {
    giveBack()
  }
}

/** Names of one word, and names of `localhost` and the local network (RFC 6761, RFC 6762). */
function isOfThisMachine(name: string): boolean {
  return !name.includes('.') || /\.(localhost|local)$/.test(name)
}

/** Reads the file for each name, like the machine's resolver, and without a thread. */
function findInHostsFile(name: string, hostsFile: string): readonly LookupAddress[] {
  try {
    return readFileSync(hostsFile, 'utf8')
      .split('\n')
      .map((line) => line.replace(/#.*/, '').toLowerCase().trim().split(/\s+/))
      .filter(([address = '', ...names]) => isIP(address) !== 0 && names.includes(name))
      .map(([address = '']) => ({ address, family: isIP(address) }))
  } catch {
    return []
  }
}

/**
 * Queries name servers for both families at once; IPv4 addresses come first. Each name has a new resolver, which reads the
 * machine's present settings.
 * @param servers as `address:port`; the machine's own by default.
 * @throws the error of the resolver: ENOTFOUND or ENODATA if the name does not exist, ETIMEOUT after a few seconds.
 */
export async function queryNameServers(
  hostname: string,
  servers?: readonly string[],
): Promise<readonly LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: QUERY_MILLISECONDS, tries: QUERY_TRIES })
  if (servers !== undefined) {
    resolver.setServers(servers)
  }
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = [...familyOf(four, 4), ...familyOf(six, 6)]
  if (addresses.length === 0) {
    throw moreTelling(four, six)
  }
  return addresses
}

function familyOf(end: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return end.status === 'fulfilled' ? end.value.map((address) => ({ address, family })) : []
}

/** A failed query says more than "no address of this family", because the name may have one. */
function moreTelling(...ends: readonly PromiseSettledResult<string[]>[]): unknown {
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  return reasons.find((reason) => !UNKNOWN_TO_NAME_SERVERS.has(reason?.code)) ?? reasons[0]
}

/** Where to connect. The addresses are resolved, and nothing is looked up again. */
export type DialTarget = {
  /** Host name or IP address without brackets; TLS verifies the certificate against it. */
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
  readonly addresses: readonly LookupAddress[]
}

/** The two ways to the network, which tests replace to stand in for names and hosts that do not exist. */
export type OutboundNetwork = {
  /** All addresses of a host name. Names of tenants never hold up those that the operator named. */
  resolve(hostname: string, isTrusted: boolean): Promise<readonly LookupAddress[]>
  /** Begins a connection. The socket emits `connect`, or with TLS `secureConnect`, when it is open. */
  dial(target: DialTarget): Socket
}

/** The machine's own resolver and sockets. They do not use the environment's proxies. */
export const systemNetwork: OutboundNetwork = {
  resolve: (hostname, isTrusted) => resolveName(hostname, isTrusted),
  dial: ({ hostname, port, isTls, addresses }) => {
    const common = { host: hostname, port, lookup: lookupOf(addresses), autoSelectFamily: true }
    if (!isTls) {
      return connectTcp(common)
    }
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable the verification. SNI has no form for addresses.
    const serverName = isIP(hostname) === 0 ? { servername: hostname } : {}
    return connectTls({ ...common, ...serverName, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
  },
}

/** A `lookup` that returns the addresses that were resolved and checked before. */
function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all === true || first === undefined) {
      callback(null, [...addresses])
    } else {
      callback(null, first.address, first.family)
    }
  }
}
