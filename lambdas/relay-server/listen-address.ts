import { bareHostname } from '#core/http.ts'

/** Where the relay server listens. */
export type ListenAddress = {
  /** A name or an address, of IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Whether its own machine alone can reach it. Only an address says so: what a name stands for may change. */
  readonly isLoopback: boolean
}

const LOOPBACK = /^(?:127(?:\.\d+){3}|::1)$/

const DEFAULT_PORT = 80

/**
 * Reads an endpoint such as `0.0.0.0:3000` or `[::1]:3000`.
 * @throws TypeError for anything that no URL could name.
 */
export function listenAddress(endpoint: string): ListenAddress {
  const url = new URL(`http://${endpoint}`)
  const host = bareHostname(url)
  return { host, port: Number(url.port || DEFAULT_PORT), isLoopback: LOOPBACK.test(host) }
}
