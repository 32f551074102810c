import { isJsonObject } from './json/parse-json-text.ts'

/** How the users that the requests of a tenant name are counted: under a digest, as they are named, or not at all. */
export const USER_KEEPINGS = ['digest', 'given', 'off'] as const
export type UserKeeping = (typeof USER_KEEPINGS)[number]

/** The header that names a user. It counts before the body. */
export const USER_HEADER = 'x-reelgate-user'

/** Users of a tenant that are counted by themselves in a day; all others are counted together. */
export const USERS_PER_DAY_MAX = 10_000

/** Under which users above {@link USERS_PER_DAY_MAX} are counted. */
export const OTHER_USERS = 'others'

/** Longer names are counted by their digest: the name is a part of a key of the table. */
const GIVEN_CHARACTERS_MAX = 64

/** Whether a name can be kept as it is given: half a surrogate pair cannot be stored. */
export function isKeptAsGiven(name: string): boolean {
  return name.length <= GIVEN_CHARACTERS_MAX && name !== OTHER_USERS && name.isWellFormed()
}

/**
 * The user that a request names: in the header, in `user` of OpenAI's bodies, or in `metadata.user_id` of Anthropic's. Undefined for a request
 * without one.
 */
export function namedUser(header: string | undefined, body: unknown): string | undefined {
  const { user, metadata } = isJsonObject(body) ? body : {}
  const names = [header, user, isJsonObject(metadata) ? metadata.user_id : undefined]
  return names.find((name) => typeof name === 'string' && name.trim() !== '')?.toString()
}
