import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { PacedResponse } from '../../../lib/simulators/openai/openai-paced-response.ts'

/** Gives `use` the response to a request, and a way for its client to leave. */
async function withResponse(use: (paced: PacedResponse, leave: () => void) => Promise<void>): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const asked: Promise<[IncomingMessage, ServerResponse]> = new Promise((resolve) => {
    server.once('request', (incoming, response) => resolve([incoming, response]))
  })
  const client = request({ port, host: '127.0.0.1' }).on('error', () => {})
  client.end()
  const [, response] = await asked
  try {
    await use(new PacedResponse(response), () => client.destroy())
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

describe('a paced response', () => {
  it('ends a wait as soon as the client has left', async () => {
    await withResponse(async (paced, leave) => {
      const waiting = paced.wait(300_000)
      leave()
      await expect(waiting).rejects.toThrow('aborted')
    })
  })

  it('does not wait at all for no time', async () => {
    await withResponse(async (paced) => {
      await expect(paced.wait(0)).resolves.toBeUndefined()
    })
  })

  it('cannot be written to once the client has left', async () => {
    await withResponse(async (paced, leave) => {
      paced.open(200, {})
      const waiting = paced.wait(300_000)
      leave()
      await expect(waiting).rejects.toThrow('aborted')
      await expect(paced.write(Buffer.from('late'))).rejects.toThrow()
    })
  })
})
