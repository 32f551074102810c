import { environmentVariable } from '#platform/configuration.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { openRelayContext } from '../relay/relay-context.ts'
import { type ListenAddress, listenAddress, startRelayServer } from './start-relay-server.ts'

/** Where Lambda Web Functions expect the server (`AWS_LAMBDA_HTTP_ENDPOINT`); loopback is never seen there. */
const DEFAULT_ENDPOINT = '0.0.0.0:3000'

/**
 * The secret of the front door. A server that only its own machine reaches needs none.
 * @throws MissingEnvironmentError for any other server without one, which would serve everybody who finds its address.
 */
function frontDoorSecretArn({ isLoopback }: ListenAddress): string | undefined {
  return isLoopback ? process.env.FRONT_DOOR_SECRET_ARN || undefined : environmentVariable('FRONT_DOOR_SECRET_ARN')
}

/** The relay server as a process of its own: listens where it is told, and settles its open requests on SIGTERM. */
async function main(): Promise<void> {
  const address = listenAddress(process.env.AWS_LAMBDA_HTTP_ENDPOINT ?? DEFAULT_ENDPOINT)
  // A process that cannot serve ends here, where a deployment notices, and not at its first request.
  openRelayContext()
  const server = await startRelayServer({
    host: address.host,
    port: address.port,
    frontDoorSecretArn: frontDoorSecretArn(address),
  })
  logger.info('relay server listens', { port: server.port })
  process.once('SIGTERM', () => {
    void server.stop().then(() => process.exit(0))
  })
}

await main()
