import * as z from 'zod'
import { strictObject } from './strict-object.ts'

const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]']

/** The issuer names itself in each token, letter by letter, so it is kept as it is written. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') {
    return false
  }
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_NAMES.includes(url.hostname))
}

const GROUPS_MAX = 50
const groups = z.array(z.string().min(1).max(200)).max(GROUPS_MAX).default([])

const oidc = strictObject({
  issuer: z
    .string()
    .max(500)
    .refine(isIssuer, {
      message: 'use the issuer of the provider, such as https://login.example.com, without a query',
    })
    .meta({ description: 'The issuer, exactly as its discovery document names it.' }),
  client_id: z.string().min(1).max(200),
  scope: z.string().max(200).default('openid email profile').meta({ description: 'The scopes that are asked for.' }),
  roles: strictObject({
    claim: z.string().min(1).max(200).default('groups').meta({
      description:
        'The claim of the ID token that decides: a string or a list, such as `groups` or `cognito:groups`; `email` needs `email_verified`.',
    }),
    owner: groups.meta({ description: 'Values of the claim whose users see and change everything.' }),
    viewer: groups.meta({ description: 'Values of the claim whose users see everything and change nothing.' }),
  }).refine(({ owner, viewer }) => owner.length + viewer.length > 0, {
    message: 'name at least one value in `owner` or `viewer`, or nobody can sign in',
  }),
})

/** Who may sign in to the console, besides holders of keys. */
export const consoleSettings = strictObject({
  oidc: oidc.optional().meta({ description: 'An OpenID provider whose users sign in to the console.' }),
})

/** The OpenID provider of the console. */
export type OidcSettings = z.infer<typeof oidc>
