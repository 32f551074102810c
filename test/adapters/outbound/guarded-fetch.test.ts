import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guardedFetch } from '#adapters/outbound/guarded-fetch.ts'
import { RequestFailedError, RequestRefusedError } from '#adapters/outbound/guarded-request.ts'
import { type Loopback, listenHttp } from './loopback.ts'

let server: Loopback
beforeAll(async () => {
  server = await listenHttp(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    if (request.url === '/large') {
      response.end(Buffer.alloc(1024 * 1024 + 1))
    } else if (request.url === '/away') {
      response.writeHead(302, { location: 'https://example.com/' }).end()
    } else {
      const shown = { method: request.method, type: request.headers['content-type'], body }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown))
    }
  })
})
afterAll(() => server.stop())

const trusted = () => guardedFetch(server.origin)

describe('guardedFetch', () => {
  it('gets and posts forms at the origin that the operator named', async () => {
    expect(await (await trusted()(`${server.origin}/`)).json()).toEqual({ method: 'GET', body: '' })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const options = { method: 'POST', headers, body: new URLSearchParams({ code: 'a b' }) }
    expect(await (await trusted()(`${server.origin}/`, options)).json()).toMatchObject({
      method: 'POST',
      body: 'code=a+b',
    })
  })

  it('refuses every other private address', async () => {
    await expect(guardedFetch('https://login.example.com')(`${server.origin}/`)).rejects.toBeInstanceOf(
      RequestRefusedError,
    )
    await expect(trusted()('https://169.254.169.254/latest')).rejects.toBeInstanceOf(RequestRefusedError)
  })

  it('follows no redirect', async () => {
    expect((await trusted()(`${server.origin}/away`)).status).toBe(302)
  })

  it('refuses a response above a megabyte, and a body that is no form', async () => {
    await expect(trusted()(`${server.origin}/large`)).rejects.toBeInstanceOf(RequestFailedError)
    const body = new Blob(['x'])
    await expect(trusted()(`${server.origin}/`, { method: 'POST', body })).rejects.toBeInstanceOf(RequestRefusedError)
  })
})
