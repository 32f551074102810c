import { connect } from 'node:net'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** TCP to another continent takes a third of a second. */
const CONNECT_MILLISECONDS_MAX = 5_000

/**
 * Whether the upstream of each channel takes a connection from this machine, which of a local host is the one that matters.
 * Nothing is sent: a request could cost money, and what it is answered is for the metrics to tell.
 */
export async function checkChannelConnections({ channels }: GatewayConfig): Promise<Finding[]> {
  const findings = await Promise.all(channels.map(checkConnection))
  const refused = findings.filter((finding) => finding !== undefined)
  return refused.length === 0
    ? [fine('connections', `the upstreams of ${channels.length} channels take connections`)]
    : refused
}

async function checkConnection({ id, base_url }: GatewayConfig['channels'][number]): Promise<Finding | undefined> {
  const { host, hostname, port, protocol } = new URL(base_url)
  const usualPort = protocol === 'https:' ? 443 : 80
  try {
    await connectTo(hostname.replace(/^\[|\]$/g, ''), port === '' ? usualPort : Number(port))
    return undefined
  } catch (error) {
    const reason = typeof error === 'object' && error !== null && 'code' in error ? error.code : String(error)
    const advice =
      'See whether the upstream runs, and whether its base_url is right; jobs for it wait or fail meanwhile.'
    return wrong('connections', `channel ${id}: no connection to ${host} (${reason})`, advice)
  }
}

function connectTo(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const end = (settle: () => void) => {
      socket.destroy()
      settle()
    }
    socket.setTimeout(CONNECT_MILLISECONDS_MAX, () => end(() => reject(new Error('no answer in time'))))
    socket.once('connect', () => end(resolve))
    socket.once('error', (error) => end(() => reject(error)))
  })
}
