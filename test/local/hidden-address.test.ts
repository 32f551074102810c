import { describe, expect, it } from 'vitest'
import { listen } from '#adapters/http-server/http-server.ts'
import { findHiddenAddress } from '#local/dynamodb-engine.ts'

/** For documentation (RFC 5737): no machine has it. */
const NOWHERE = '192.0.2.1'

describe('findHiddenAddress', () => {
  it('finds an address of loopback that a server can listen on, another one each time', async () => {
    const [first, second] = [await findHiddenAddress(), await findHiddenAddress()]
    const server = await listen((_request, response) => void response.end('here'), first)
    const response = await fetch(`http://${first.host}:${first.port}`)
    expect(await response.text()).toBe('here')
    expect(first.host).toMatch(/^127\.[1-9]\d{0,2}\.\d{1,3}\.[1-9]\d{0,2}$/)
    expect(first.host).not.toBe(second.host)
    await server.close()
  })

  it('is a port of 127.0.0.1 on a machine that has no other address of loopback', async () => {
    const { host, port } = await findHiddenAddress(() => NOWHERE)
    expect(host).toBe('127.0.0.1')
    expect(port).toBeGreaterThan(0)
  })
})
