import { logger } from '#adapters/telemetry/logger.ts'
import { openRelayContext } from '../relay/relay-context.ts'
import { startRelayServer } from './start-relay-server.ts'

/** Where Lambda Web Functions expect the server (`AWS_LAMBDA_HTTP_ENDPOINT`); loopback is never seen there. */
const DEFAULT_ENDPOINT = '0.0.0.0:3000'

/** The relay server as a process of its own: listens where it is told, and settles its open requests on SIGTERM. */
async function main(): Promise<void> {
  const { hostname, port } = new URL(`http://${process.env.AWS_LAMBDA_HTTP_ENDPOINT ?? DEFAULT_ENDPOINT}`)
  // A process that cannot serve ends here, where a deployment notices, and not at its first request.
  openRelayContext()
  const server = await startRelayServer({
    host: hostname,
    port: Number(port || 80),
    frontDoorSecretArn: process.env.FRONT_DOOR_SECRET_ARN || undefined,
  })
  logger.info('relay server listens', { port: server.port })
  process.once('SIGTERM', () => {
    void server.stop().then(() => process.exit(0))
  })
}

await main()
