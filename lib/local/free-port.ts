import { createServer } from 'node:net'

/**
 * A TCP port that was free when checked.
 * @param host an address of this machine.
 * @throws if the machine has no such address.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
