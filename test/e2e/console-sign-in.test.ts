import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Gateway, startGateway } from './start-gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => void gateway.kill())

const HEADERS = () => ({ origin: gateway.url, 'x-reelgate-console': '1', 'content-type': 'application/json' })

function signIn(body: object, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: 'POST', headers: { ...HEADERS(), ...headers }, body: JSON.stringify(body) }
  return fetch(`${gateway.url}/admin/v1/session`, init)
}

/** The start prints the link after the address, for which the gateway was awaited. */
async function printedLink(): Promise<string> {
  for (;;) {
    const link = /#link=([\w-]{43})/.exec(gateway.output())?.[1]
    if (link !== undefined) {
      return link
    }
    await once(gateway.process.stdout ?? gateway.process, 'data')
  }
}

describe('the console of a local host', () => {
  it('is signed in to by the link that the start prints, once; its cookie opens nothing of the API', async () => {
    const link = await printedLink()
    expect((await signIn({ link }, { origin: 'http://127.0.0.1:1' })).status).toBe(403)
    const signedIn = await signIn({ link })
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1).join('') ?? ''
    const { page_secret: secret, role } = Object(await signedIn.json())
    expect({ status: signedIn.status, role }).toEqual({ status: 200, role: 'owner' })
    expect((await signIn({ link })).status).toBe(401)
    const session = (headers: Record<string, string>) => fetch(`${gateway.url}/admin/v1/session`, { headers })
    expect((await session({ cookie, 'x-reelgate-page': secret })).status).toBe(200)
    expect((await session({ cookie })).status).toBe(401)
    expect((await fetch(`${gateway.url}/v1/models`, { headers: { cookie, 'x-reelgate-page': secret } })).status).toBe(
      401,
    )
    const shown = await session({ cookie, 'x-reelgate-page': secret })
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('has routes of its own: unknown paths are a 404, and unknown methods that write a 405', async () => {
    expect((await fetch(`${gateway.url}/admin/v1/nothing`)).status).toBe(404)
    const put = await fetch(`${gateway.url}/admin/v1/tenants`, { method: 'PUT', headers: HEADERS() })
    expect({ status: put.status, allow: put.headers.get('allow') }).toEqual({ status: 405, allow: 'GET, POST' })
    expect((await fetch(`${gateway.url}/admin/v1/tenants`, { method: 'OPTIONS' })).status).toBe(405)
  })
})
