import { connect } from 'node:net'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { bareHostname } from '#core/http.ts'
import { type Finding, fine, wrong } from './finding.ts'

/** TCP to another continent takes a third of a second. */
const CONNECT_MILLISECONDS_MAX = 5_000

/**
 * Whether the upstream of each channel accepts a connection from this machine, the machine of a local host. Nothing is sent: a request
 * could cost money, and the metrics show how upstreams reply.
 */
export async function checkChannelConnections({ channels }: GatewayConfig): Promise<Finding[]> {
  const findings = await Promise.all(channels.map(checkConnection))
  const refused = findings.filter((finding) => finding !== undefined)
  return refused.length === 0
    ? [fine('connections', `the upstreams of ${channels.length} channels accept connections`)]
    : refused
}

async function checkConnection({ id, base_url }: GatewayConfig['channels'][number]): Promise<Finding | undefined> {
  const url = new URL(base_url)
  const { host, port, protocol } = url
  const usualPort = protocol === 'https:' ? 443 : 80
  try {
    await connectTo(bareHostname(url), port === '' ? usualPort : Number(port))
    return undefined
  } catch (error) {
    const reason = typeof error === 'object' && error !== null && 'code' in error ? error.code : String(error)
    const advice = 'Check that the upstream runs and that its base_url is right; until then its jobs wait or fail.'
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
