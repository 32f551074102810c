import * as z from 'zod'
import type { OidcSettings } from '../catalogue/gateway-config.ts'
import { type Claims, meetsConditions } from '../claims.ts'
import { GIVEN_ROLES, type GivenRole } from '../roles.ts'

/** Longer than any key or link; a longer string is refused before it is hashed. */
const CREDENTIAL_CHARACTERS_MAX = 512

const credential = z.string().min(1).max(CREDENTIAL_CHARACTERS_MAX)

/** The body of POST /admin/v1/session: an admin key, an API key, or the secret of a one-time link. */
export const createSessionRequest = z
  .union([
    z.strictObject({ key: credential.describe('An admin key (`rg_admin_...`) or an API key of a tenant.') }),
    z.strictObject({ link: credential.describe('The secret of a one-time link, on a local host.') }),
  ])
  .meta({ description: 'What signs in: exactly one of `key` and `link`.' })

/** The body of PATCH /admin/v1/session. */
export const switchSessionRequest = z.strictObject({
  tenant: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .describe('The tenant of one of the `assignments` of the session; null for all tenants.'),
})

type Rules = Pick<OidcSettings, 'rules'>

/** Whether a rule asks for an address and the token has one that the provider does not call verified: anybody may have entered it. */
export function lacksVerification(claims: Claims, { rules }: Rules): boolean {
  return (
    addressOf(claims) !== undefined &&
    !isEmailVerified(claims) &&
    rules.some(({ when }) => Object.hasOwn(when, 'email'))
  )
}

function addressOf({ email }: Claims): string | undefined {
  return typeof email === 'string' && email !== '' ? email : undefined
}

/** A boolean by OpenID Connect Core, 5.1; some providers send the string. A token without the claim verifies nothing. */
function isEmailVerified({ email_verified: verified }: Claims): boolean {
  return verified === true || verified === 'true'
}

/** What a rule gives: a role, and for some roles a tenant, by its id or its name. */
type GivenByRule = { readonly role: GivenRole; readonly tenant: string | null }

/**
 * What the rules give a user of the OpenID provider: for all tenants, and for each tenant that they name, the role that may most. An
 * address that is not verified matches no rule.
 */
export function givenByRules({ email, ...claims }: Claims, { rules }: Rules): readonly GivenByRule[] {
  const trusted = isEmailVerified(claims) ? { ...claims, email } : claims
  const matching = rules
    .filter(({ when }) => meetsConditions(when, trusted))
    .map(({ role, tenant = null }) => ({ role, tenant }))
    .toSorted((left, right) => GIVEN_ROLES.indexOf(left.role) - GIVEN_ROLES.indexOf(right.role))
  return [...Map.groupBy(matching, ({ tenant }) => tenant).values()].flatMap(([most]) => most ?? [])
}

const NAME_CHARACTERS_MAX = 100

/**
 * What the audit log calls a user: the verified address, which people know, and the subject, which is unique. Users may choose
 * their other names themselves, so nobody is recorded under one.
 */
export function actorOfClaims(claims: Claims): string {
  const address = addressOf(claims)
  const subject = printable(claims.sub)
  return address !== undefined && isEmailVerified(claims) ? `${printable(address)} (${subject})` : subject
}

function printable(text: unknown): string {
  return String(text)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .slice(0, NAME_CHARACTERS_MAX)
}

/** A page that the browser shows after it was at an OpenID provider. */
type Page = { readonly title: string; readonly lines: readonly string[]; readonly refresh?: string }

/**
 * A page that leads to the console. The callback cannot redirect: the browser would send the next request as one that the
 * provider's site caused, without the session's cookie.
 * @param url a path of the console.
 */
export function signedInPage(url: string): string {
  return pageOf({ title: 'Signed in', lines: ['You are signed in.'], refresh: url })
}

/** A page that says why nobody was signed in. Every line may hold what a provider or a user wrote. */
export function refusedPage(lines: readonly string[]): string {
  return pageOf({ title: 'Not signed in', lines })
}

/** As the sign-in page of the console looks, which these pages cannot load. */
const OIDC_PAGE_STYLE = [
  ':root{color-scheme:light dark}',
  "body{display:grid;place-items:center;min-height:100vh;margin:0;padding:24px 16px;box-sizing:border-box;background:light-dark(#fcfcfd,#0d0e11);color:light-dark(#15181e,#eceef2);font:14px/1.55 Inter,ui-sans-serif,system-ui,-apple-system,'Segoe UI',sans-serif}",
  'main{box-sizing:border-box;width:min(440px,100%);padding:28px;border:1px solid light-dark(#e6e8ec,#262a31);border-radius:14px;background:light-dark(#fff,#15171b);overflow-wrap:anywhere}',
  'h1{margin:14px 0 10px;font-size:20px}',
  'a{color:light-dark(#4f46e5,#8f8aff)}',
].join('')

/** Allows that style alone; a test compares the two. */
const STYLE_HASH = 'sha256-7qHhE4l+ankf90hvBtDPfeLfKZdng4aW0epfJtCh5LI='

/** Headers of these pages: they run no script, load nothing, have one style, and stand in no frame. */
export const OIDC_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function pageOf({ title, lines, refresh }: Page): string {
  const refreshed = refresh === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${escaped(refresh)}">`
  const meta = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${refreshed}`
  const head = `<head>${meta}<title>${escaped(title)}</title><style>${OIDC_PAGE_STYLE}</style></head>`
  const paragraphs = lines.map((line) => `<p>${escaped(line)}</p>`).join('')
  const link = `<p><a href="${escaped(refresh ?? '/console')}">Go to the console</a></p>`
  const main = `<main>${MARK}<h1>${escaped(title)}</h1>${paragraphs}${link}</main>`
  return `<!doctype html><html lang="en">${head}<body>${main}</body></html>`
}

/** The mark of Reelgate, as in `web/src/icon.svg`. */
const MARK =
  '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M22.6 10.1a8.8 8.8 0 1 0 2.1 4.3" stroke="#fff" stroke-width="3" stroke-linecap="round" fill="none"/><path d="M13.5 11.8l7 4.2-7 4.2z" fill="#fff"/></svg>'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
