import type { OidcSettings } from '../catalogue/console-settings.ts'

/** Claims of an ID token that was checked. */
export type OidcClaims = Readonly<Record<string, unknown>>

/** Whether a role depends on an address that the provider does not call verified: anybody may have entered it. */
export function lacksVerification(claims: OidcClaims, { claim }: Pick<OidcSettings['roles'], 'claim'>): boolean {
  return claim === 'email' && !isEmailVerified(claims)
}

/** A boolean by OpenID Connect Core, 5.1; some providers send the string. A token without the claim verifies nothing. */
function isEmailVerified({ email_verified: verified }: OidcClaims): boolean {
  return verified === true || verified === 'true'
}

/**
 * The role of a user of the OpenID provider; undefined for a user whom the configuration does not name, or names by an
 * unverified address.
 */
export function roleOfClaims(claims: OidcClaims, roles: OidcSettings['roles']): 'owner' | 'viewer' | undefined {
  if (lacksVerification(claims, roles)) {
    return undefined
  }
  const { claim, owner, viewer } = roles
  const values = valuesOf(claims[claim])
  if (values.some((value) => owner.includes(value))) {
    return 'owner'
  }
  return values.some((value) => viewer.includes(value)) ? 'viewer' : undefined
}

function valuesOf(claim: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((value) => typeof value === 'string')
}

const NAME_CHARACTERS_MAX = 100

/**
 * What the audit log calls a user: the verified address, which people know, and the subject, which is unique. Users may choose
 * their other names themselves, so nobody is recorded under one.
 */
export function actorOfClaims(claims: OidcClaims): string {
  const { email } = claims
  const subject = printable(claims.sub)
  return typeof email === 'string' && email !== '' && isEmailVerified(claims)
    ? `${printable(email)} (${subject})`
    : subject
}

function printable(text: unknown): string {
  return String(text)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .slice(0, NAME_CHARACTERS_MAX)
}
