import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import { eventually } from '../e2e/video-api.ts'

const running: Gateway[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.kill()))
})

async function start(options?: Parameters<typeof startGateway>[0]): Promise<Gateway> {
  const gateway = await startGateway(options)
  running.push(gateway)
  return gateway
}

/** Sends a chat request, and leaves when the tenant's money is locked for it. */
async function leaveChat(gateway: Gateway, prompt: string): Promise<void> {
  const held = async () => String(Object(await gateway.admin('tenant', 'show', '--tenant', 'demo')).held)
  // The first command takes a second or more; the chat would be over before it answered.
  expect(await held()).toBe('0')
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const messages = [{ role: 'user', content: prompt }]
  const body = JSON.stringify({ model: 'chat-default', messages, stream: true, max_tokens: 20 })
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: local\r\nauthorization: Bearer e2e-key\r\n`)
  socket.write(`content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  await eventually(held, (credits) => credits !== '0')
  socket.destroy()
}

describe('the shutdown of the local host', () => {
  it('lets a request whose client has left reach its usage and settle, before it stops the table', async () => {
    const first = await start()
    await leaveChat(first, '[slow:2] a story')
    expect(await first.stop()).toBe(0)
    const second = await start({ dataDirectory: first.dataDirectory, configFile: first.configFile })
    const { held, spent } = Object(await second.admin('tenant', 'show', '--tenant', 'demo'))
    expect({ held, isBilled: Number(spent) > 0 }).toEqual({ held: '0', isBilled: true })
  })
})
