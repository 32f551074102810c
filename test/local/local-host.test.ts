import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { afterEach, describe, expect, it } from '@jest/globals'
import { localActor } from '#local/local-actor.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'

describe('local host', () => {
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
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer e2e-key\r\n`)
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

  /** What a request gets that no client of HTTP sends. */
  async function answerTo(gateway: Gateway, head: string): Promise<string> {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.end(head)
    return String(Buffer.concat(await socket.toArray()))
  }

  /** Asks under another name than that of the address. */
  function ask(gateway: Gateway, path: string, host: string, method = 'GET') {
    return new Promise<{ status: number | undefined; headers: object; text: string }>((resolve, reject) => {
      const asking = request(gateway.url + path, { method, headers: { host }, agent: false }, async (response) => {
        const text = Buffer.concat(await response.toArray()).toString()
        resolve({ status: response.statusCode, headers: response.headers, text })
      })
      asking.on('error', reject).end()
    })
  }

  const DOORS = ['/v1/models', '/v1/video/generations', '/console', '/admin/v1/session', '/v/none', '/health', '/other']

  describe('the local host', () => {
    it('answers to names of this machine and to allowed ones only, at every door, and lets no type be guessed', async () => {
      const gateway = await start({ allowedHosts: ['Gateway.Example.com'] })
      const { port } = new URL(gateway.url)
      for (const path of DOORS) {
        for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1']) {
          const { status, headers, text } = await ask(gateway, path, host)
          expect([path, host, status]).toEqual([path, host, 421])
          expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
          expect(text).toContain('use localhost, or start it with --allowed-host NAME')
        }
        for (const host of [
          'localhost',
          `127.0.0.1:${port}`,
          '127.1.2.3',
          '[::1]:1',
          'a.localhost',
          'gateway.example.com:8443',
        ]) {
          const { status, headers } = await ask(gateway, path, host)
          expect([path, host, status]).not.toEqual([path, host, 421])
          expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
        }
      }
      for (const [target, hosts] of [
        ['/v1/models', ['localhost', 'evil.example']],
        ['http://evil.example/v1/models', ['localhost']],
      ] as const) {
        const lines = hosts.map((host) => `host: ${host}\r\n`).join('')
        expect(await answerTo(gateway, `GET ${target} HTTP/1.1\r\n${lines}connection: close\r\n\r\n`)).toMatch(
          /^HTTP\/1\.1 4(?:00|21) /,
        )
      }
      expect((await ask(gateway, '/v1/models', 'localhost', 'OPTIONS')).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
      })
    })
  })
})

describe('localActor', () => {
  it('is the user and the machine, as an operator', () => {
    expect(localActor()).toEqual({ name: `${userInfo().username}@${hostname()}`, role: 'operator' })
  })
})
