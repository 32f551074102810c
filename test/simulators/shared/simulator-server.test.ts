import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startP1Simulator } from '../../../lib/simulators/p1/p1-simulator.ts'
import { RequestLog } from '../../../lib/simulators/shared/request-log.ts'
import { startSimulatorServer } from '../../../lib/simulators/shared/simulator-server.ts'
import { withP1 } from '../p1/p1-client.ts'
import { call } from './simulator-client.ts'

describe('a simulator server', () => {
  it('records method, path with query, headers and body of each request', async () => {
    const handle = () => ({ kind: 'json', status: 200, body: {} }) as const
    const simulator = await startSimulatorServer({ port: 0, host: '127.0.0.1', handle })
    await call(simulator, '/path?a=1', { body: { prompt: 'a cat' }, headers: { 'x-mark': 'yes' } })
    await fetch(`${simulator.baseUrl}/text`, { method: 'POST', body: 'not json' })
    await simulator.close()
    expect(simulator.requests).toMatchObject([
      { method: 'POST', path: '/path?a=1', headers: { 'x-mark': 'yes' }, body: { prompt: 'a cat' } },
      { method: 'POST', path: '/text', body: 'not json' },
    ])
  })

  it('refuses a request without a bearer token', async () => {
    await withP1({}, async ({ simulator }) => {
      expect((await fetch(`${simulator.baseUrl}/api/v1/tasks/a`)).status).toBe(401)
    })
  })

  it('listens where it is told, and says so when the port is taken', async () => {
    await withP1({}, async ({ simulator }) => {
      expect(simulator.baseUrl).toBe(`http://127.0.0.1:${simulator.port}`)
      await expect(startP1Simulator({ port: simulator.port })).rejects.toThrow('EADDRINUSE')
    })
  })

  it('ends idle connections when it closes', async () => {
    const simulator = await startP1Simulator()
    const socket = connect(simulator.port, '127.0.0.1')
    const ended = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.on('error', () => {})
    await simulator.close()
    await ended
    expect(socket.destroyed).toBe(true)
  })
})

describe('the request log', () => {
  it('keeps the newest requests only', () => {
    const log = new RequestLog<number>()
    for (let count = 0; count < 1500; count += 1) {
      log.add(count, 1)
    }
    expect([log.entries.length, log.entries[0], log.entries.at(-1)]).toEqual([1000, 500, 1499])
  })

  it('lets old requests go when they weigh too much, but never the newest', () => {
    const log = new RequestLog<string>()
    log.add('old', 100_000_000)
    log.add('large', 200_000_000)
    expect(log.entries).toEqual(['large'])
  })
})
