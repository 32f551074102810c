import { promises as dns, type LookupAddress } from 'node:dns'
import { readFileSync } from 'node:fs'
import { Places } from '../places.ts'

/** The sources of addresses: the machine's own, except in tests. */
export type NameSources = {
  /** Queries name servers over sockets, without a thread of the process. */
  readonly query: (hostname: string) => Promise<readonly LookupAddress[]>
  /** The machine's resolver with all its settings. It occupies one of the process's four threads while it waits. */
  readonly lookup: (hostname: string) => Promise<readonly LookupAddress[]>
  readonly hostsFile: string
}

/** Half of the threads, which file access and all other lookups need too. */
const THREADS_MAX = 2

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
 * Resolves a host name once, to all the addresses that the machine's resolver would return.
 *
 * The names come from tenants, and the operator of a name server decides how long a query takes. Name servers are therefore
 * queried without a thread of the process, which has four in all. Names in the hosts file, names without a dot, and names that only the
 * machine knows (by its search list, for example) are left to its resolver, two at a time.
 * @throws the resolver's error, with its code.
 */
export async function resolveName(
  hostname: string,
  sources: NameSources = SYSTEM_SOURCES,
): Promise<readonly LookupAddress[]> {
  if (isOfThisMachine(hostname, sources.hostsFile)) {
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

/** Names of one word, names of `localhost` and the local network (RFC 6761, RFC 6762), and those in the hosts file. */
function isOfThisMachine(hostname: string, hostsFile: string): boolean {
  const name = hostname.replace(/\.$/, '').toLowerCase()
  return !name.includes('.') || /\.(localhost|local)$/.test(name) || isInHostsFile(name, hostsFile)
}

/** Reads the file for each name, like the machine's resolver, and without a thread. */
function isInHostsFile(name: string, hostsFile: string): boolean {
  try {
    return readFileSync(hostsFile, 'utf8')
      .split('\n')
      .some((line) => line.replace(/#.*/, '').toLowerCase().trim().split(/\s+/).slice(1).includes(name))
  } catch {
    return false
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
