import { promises as dns, type LookupAddress } from 'node:dns'
import { readFileSync } from 'node:fs'
import { Places } from '../places.ts'

/** Where the answers come from; all of it is the machine's own unless a test says otherwise. */
export type NameSources = {
  /** Asks name servers over sockets of its own, and none of the process's threads. */
  readonly query: (hostname: string) => Promise<readonly LookupAddress[]>
  /** The machine's resolver, with all that it is set up for; it takes one of four threads while it waits. */
  readonly lookup: (hostname: string) => Promise<readonly LookupAddress[]>
  readonly hostsFile: string
}

/** Half of the threads that file access, and the look-ups of everything else, need too. */
const THREADS_MAX = 2

const threads = new Places(THREADS_MAX)

/** Of one question to one name server; the whole of a connection has five seconds. */
const QUERY_MILLISECONDS = 2_000
const QUERY_TRIES = 2

const SYSTEM_SOURCES: NameSources = {
  query: (hostname) => queryNameServers(hostname),
  lookup: (hostname) => dns.lookup(hostname, { all: true }),
  hostsFile: '/etc/hosts',
}

/** The name servers say that there is no such name, or cannot be asked; what the machine knows beside them may know it. */
const UNKNOWN_TO_NAME_SERVERS: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

/**
 * All addresses of a host name, as the machine's resolver would give them, once. The names come from tenants, and whoever
 * runs the name server of one decides how long it takes: so name servers are asked without a thread of the process, which
 * has four for everything. Names of the hosts file, names without a dot, and names that only the machine knows (by its
 * search list, for example) are still left to its resolver, two at a time.
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

/** Names of one word, of `localhost` and of the local network (RFC 6761, RFC 6762), and those of the hosts file. */
function isOfThisMachine(hostname: string, hostsFile: string): boolean {
  const name = hostname.replace(/\.$/, '').toLowerCase()
  return !name.includes('.') || /\.(localhost|local)$/.test(name) || isInHostsFile(name, hostsFile)
}

/** Read anew for each name, as the machine's resolver does, and without a thread. */
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
 * Asks name servers for both families at once; the older comes first. A resolver of its own for each name reads the machine's
 * settings afresh.
 * @param servers the machine's own unless said, as `address:port`.
 * @throws the error of the resolver: ENOTFOUND or ENODATA where there is no such name, ETIMEOUT after a few seconds.
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

/** A failure says more than "no address of this family": behind it there may be one. */
function moreTelling(...ends: readonly PromiseSettledResult<string[]>[]): unknown {
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  return reasons.find((reason) => !UNKNOWN_TO_NAME_SERVERS.has(reason?.code)) ?? reasons[0]
}
