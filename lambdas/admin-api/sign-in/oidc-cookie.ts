import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import { type ConsoleSite, cookieValues, setCookie } from '#core/admin/console-site.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { type ApiEvent, headerLinesOf } from '#middleware/api-event.ts'
import { once } from '#platform/cache.ts'
import { openSealedValue, sealValue } from '#platform/crypto.ts'
import { frontDoorValues } from '#platform/secrets.ts'

const PURPOSE = 'reelgate oidc sign-in'
const LIFE_SECONDS = 600

const pending = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  /** The page to come back to. */
  target: z.string(),
  /** Unix seconds. */
  endsAt: z.number(),
})

/** A sign-in while its user is at the provider. It is in one sealed cookie, so that only the browser that began it can end it. */
export type PendingSignIn = Omit<z.infer<typeof pending>, 'endsAt'>

/** The cookie must arrive with a request that the provider's site causes, so it is not Strict. */
export async function pendingCookie(signIn: PendingSignIn, site: ConsoleSite): Promise<string> {
  const [secret = ''] = await sealingSecrets()
  const text = JSON.stringify({ ...signIn, endsAt: nowSeconds() + LIFE_SECONDS })
  return cookie(site, sealValue(text, { secret, purpose: PURPOSE }), LIFE_SECONDS)
}

/** Removes the cookie. */
export function noPendingCookie(site: ConsoleSite): string {
  return cookie(site, '', 0)
}

/** The sign-in that this browser began; undefined without one, after ten minutes, and for a cookie that was changed or that another version wrote. */
export async function readPendingSignIn(event: ApiEvent, site: ConsoleSite): Promise<PendingSignIn | undefined> {
  const [value, ...others] = cookieValues(headerLinesOf(event, 'cookie'), cookieName(site))
  if (value === undefined || others.length > 0) {
    return undefined
  }
  const text = openSealedValue(value, { secrets: await sealingSecrets(), purpose: PURPOSE })
  const signIn = text === undefined ? undefined : pending.safeParse(parseJsonText(text)).data
  return signIn !== undefined && signIn.endsAt > nowSeconds() ? signIn : undefined
}

/** The secrets of the front door, which all instances know; on a local host, whose process is one, a secret of its own. */
async function sealingSecrets(): Promise<readonly string[]> {
  const secretArn = process.env.FRONT_DOOR_SECRET_ARN
  return secretArn ? await frontDoorValues(secretArn) : [ownSecret()]
}

const ownSecret = once(() => randomBytes(32).toString('base64url'))

function cookie(site: ConsoleSite, value: string, maxAgeSeconds: number): string {
  const settings = { path: '/admin/v1/oidc', sameSite: 'Lax', isSecure: !site.isLoopback, maxAgeSeconds } as const
  return setCookie(cookieName(site), value, settings)
}

function cookieName({ isLoopback }: ConsoleSite): string {
  return isLoopback ? 'rg_oidc' : '__Secure-rg_oidc'
}

function nowSeconds(): number {
  return Math.trunc(Date.now() / 1000)
}
