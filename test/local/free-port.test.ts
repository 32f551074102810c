import { describe, expect, it } from 'vitest'
import { listen } from '#adapters/http-server/http-server.ts'
import { findFreePort } from '#local/dynamodb-engine.ts'

describe('free-port', () => {
  it('is a port that a server can listen on', async () => {
    const port = await findFreePort()
    const server = await listen((_request, response) => void response.end(), port)
    expect(server.port).toBe(port)
    await server.close()
  })
})
