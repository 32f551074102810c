import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A certified OpenID provider on this machine, with one public client and users whose group is their name. */
export type RealProvider = { readonly issuer: string; stop(): Promise<void> }

/** Starts the provider for a console at one redirect address. */
export async function startRealProvider(redirectUri: string): Promise<RealProvider> {
  const server = createServer({ keepAliveTimeout: 0 })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const issuer = `http://127.0.0.1:${portOf(server.address())}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectUri],
        application_type: 'native',
      },
    ],
    claims: { openid: ['sub', 'groups', 'email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, groups: [accountId], email: `${accountId}@example.com`, email_verified: true }),
    }),
    cookies: { keys: ['a key of the test'] },
  })
  server.on('request', provider.callback())
  return {
    issuer,
    stop: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Goes through the provider's own pages as a browser does: signs in and consents. @returns the address of the callback. */
export async function signInAtProvider(location: URL, user: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = location
  let form: URLSearchParams | undefined
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    })
    for (const [, name = '', value = ''] of response.headers
      .getSetCookie()
      .map((line) => /^([^=]+)=([^;]*)/.exec(line) ?? [])) {
      cookies.set(name, value)
    }
    const text = await response.text()
    const next = response.headers.get('location')
    form = undefined
    if (next !== null) {
      url = new URL(next, url)
      if (url.origin !== location.origin) {
        return url
      }
    } else {
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? 'login'
      url = new URL(/action="([^"]+)"/.exec(text)?.[1] ?? '', url)
      form = new URLSearchParams({ prompt, login: user, password: 'any' })
    }
  }
  throw new Error('the provider did not send the browser back')
}

/** Start, sign-in page, consent page, and the redirects between them. */
const STEPS_MAX = 12
