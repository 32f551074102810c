import { randomInt } from 'node:crypto'
import { findFreePort } from './free-port.ts'

/** Where a server can listen on this machine. */
export type LoopbackAddress = { readonly host: string; readonly port: number }

/**
 * A free port at a random address of loopback, for a server that checks no credentials. A page in a browser of this machine may send
 * requests to any address, but it would have to try 2^24 addresses, and the ports of each. Linux has all of 127.0.0.0/8; elsewhere the
 * address is 127.0.0.1, which a page finds.
 * @param drawHost a random address.
 */
export async function findHiddenAddress(drawHost = randomHost): Promise<LoopbackAddress> {
  const host = drawHost()
  try {
    return { host, port: await findFreePort(host) }
  } catch {
    return { host: LOOPBACK, port: await findFreePort(LOOPBACK) }
  }
}

const LOOPBACK = '127.0.0.1'

/** No network address, no broadcast address, and not the part of 127.0.0.0/8 that systems use. */
function randomHost(): string {
  return `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`
}
