import type { OidcSettings } from '../catalogue/console-settings.ts'

/** Claims of an ID token that was checked. */
export type OidcClaims = Readonly<Record<string, unknown>>

/** The role of a user of the OpenID provider; undefined for a user whom the configuration does not name. */
export function roleOfClaims(
  claims: OidcClaims,
  { claim, owner, viewer }: OidcSettings['roles'],
): 'owner' | 'viewer' | undefined {
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

/** What the audit log calls a user: the name that the provider gives, which people know, and the subject, which is unique. */
export function actorOfClaims(claims: OidcClaims): string {
  const names = [claims.email, claims.preferred_username, claims.name]
  const name = names.find((each) => typeof each === 'string' && each !== '')
  const subject = printable(claims.sub)
  return name === undefined ? subject : `${printable(name)} (${subject})`
}

function printable(text: unknown): string {
  return String(text)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .slice(0, NAME_CHARACTERS_MAX)
}
