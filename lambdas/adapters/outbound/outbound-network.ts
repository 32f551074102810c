import type { LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { resolveName } from './resolve-name.ts'

/** Where to connect: the addresses are settled, nothing is looked up any more. */
export type DialTarget = {
  /** Host name or IP address without brackets; TLS verifies the certificate against it. */
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
  readonly addresses: readonly LookupAddress[]
}

/** The two doors to the network, so that tests can answer for names and hosts that do not exist. */
export type OutboundNetwork = {
  /** All addresses of a host name. */
  resolve(hostname: string): Promise<readonly LookupAddress[]>
  /** Begins a connection; the socket says `connect`, or with TLS `secureConnect`, when it is open. */
  dial(target: DialTarget): Socket
}

/** The machine's own resolver and sockets. Proxies named in the environment are not used: none of this reads them. */
export const systemNetwork: OutboundNetwork = {
  resolve: (hostname) => resolveName(hostname),
  dial: ({ hostname, port, isTls, addresses }) => {
    const common = { host: hostname, port, lookup: answerWith(addresses), autoSelectFamily: true }
    if (!isTls) {
      return connectTcp(common)
    }
    // Said explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off. SNI has no form for addresses.
    const serverName = isIP(hostname) === 0 ? { servername: hostname } : {}
    return connectTls({ ...common, ...serverName, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
  },
}

/** A `lookup` that hands out addresses which were resolved and checked before; it never asks anyone. */
function answerWith(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all === true || first === undefined) {
      callback(null, [...addresses])
    } else {
      callback(null, first.address, first.family)
    }
  }
}
