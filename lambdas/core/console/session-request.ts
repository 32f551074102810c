import * as z from 'zod'

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
