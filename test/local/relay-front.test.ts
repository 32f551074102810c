import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { RelayFront } from '#local/relay-front.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

useOpened(startRelayRig)
let server: HttpServer
let front: RelayFront

beforeAll(async () => {
  front = new RelayFront(async (_request, response) => void response.end('others'))
  server = await listen((request, response) => void front.serve(request, response), 0)
})
afterAll(async () => {
  await server.close()
})

const url = (path: string) => `http://127.0.0.1:${server.port}${path}`

describe('RelayFront', () => {
  it.each([
    ['GET', '/v1/video/generations'],
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/models?limit=1'],
  ])('leaves %s %s to the other routes', async (method, path) => {
    expect(await (await fetch(url(path), { method })).text()).toBe('others')
  })

  it('serves a relayed route, whatever its query', async () => {
    const response = await fetch(url('/v1/chat/completions?a=1'), { method: 'POST', body: '{}' })
    expect([response.status, Object(await response.json()).error.code]).toEqual([401, 'invalid_api_key'])
    await front.settled(5_000)
  })
})
