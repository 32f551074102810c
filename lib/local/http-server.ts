import { createServer, type RequestListener, type Server } from 'node:http'

/** An HTTP server on loopback. */
export type LocalServer = { readonly port: number; close(): Promise<void> }

/** Listens on a port (0 takes a free one). @throws when the port is taken. */
export async function listen(listener: RequestListener, port: number): Promise<LocalServer> {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  return { port: portOf(server), close: () => close(server) }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Requests in flight may finish; idle connections end now. */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), CLOSE_MILLISECONDS)
  await closed
  clearTimeout(force)
}

/** How long a request in flight may hold up a shutdown. */
const CLOSE_MILLISECONDS = 2_000
