import type { LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { resolveName } from './resolve-name.ts'

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
