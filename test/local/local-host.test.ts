import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'

const running: Gateway[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.kill()))
})

async function start(options?: Parameters<typeof startGateway>[0]): Promise<Gateway> {
  const gateway = await startGateway(options)
  running.push(gateway)
  return gateway
}

/** Sends a chat request, and leaves when the reply has begun. */
async function leaveChat(gateway: Gateway, prompt: string): Promise<void> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const messages = [{ role: 'user', content: prompt }]
  const body = JSON.stringify({ model: 'chat-default', messages, stream: true, max_tokens: 20 })
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: local\r\nauthorization: Bearer e2e-key\r\n`)
  socket.write(`content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  const [head] = await once(socket, 'data')
  expect(String(head)).toContain('HTTP/1.1 200')
  socket.destroy()
}

describe('the shutdown of the local host', () => {
  it('lets a request whose client has left reach its usage and settle, before it stops the table', async () => {
    const first = await start()
    await leaveChat(first, '[silent:2] a story')
    expect(await first.stop()).toBe(0)
    const second = await start({ dataDirectory: first.dataDirectory, configFile: first.configFile })
    const { held, spent } = Object(await second.admin('tenant', 'show', '--tenant', 'demo'))
    expect({ held, isBilled: Number(spent) > 0 }).toEqual({ held: '0', isBilled: true })
  })
})
