import { InvalidRequestError } from '../errors.ts'

/** Rows of a page. */
const LIMIT = { default: 50, max: 200 } as const

/** A time with its zone. */
export const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

/** Query parameters of the admin API, each given once. */
export type PageQuery = Readonly<Record<string, string | undefined>>

/** The rows of a page. @throws InvalidRequestError naming `limit`. */
export function readPageLimit({ limit }: PageQuery): number {
  if (limit === undefined) {
    return LIMIT.default
  }
  const rows = /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (rows < 1 || rows > LIMIT.max) {
    throw new InvalidRequestError([
      { path: 'limit', message: `\`limit\` must be a whole number from 1 to ${LIMIT.max}` },
    ])
  }
  return rows
}

/** A time in Unix milliseconds; undefined if it is not given. @throws InvalidRequestError naming the parameter. */
export function readQueryTime(query: PageQuery, name: string): number | undefined {
  const value = query[name]
  if (value === undefined) {
    return undefined
  }
  const time = ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (!(time >= 0)) {
    throw new InvalidRequestError([{ path: name, message: `\`${name}\` must be a time such as 2027-01-31T12:00:00Z` }])
  }
  return time
}

/** One of a few values; undefined if it is not given. @throws InvalidRequestError naming the parameter and the values. */
export function readQueryChoice<Choice extends string>(
  query: PageQuery,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = query[name]
  const choice = choices.find((each) => each === value)
  if (value !== undefined && choice === undefined) {
    throw new InvalidRequestError([{ path: name, message: `\`${name}\` must be one of ${choices.join(', ')}` }])
  }
  return choice
}

/** Longer than any id, name or action. */
const CHARACTERS_MAX = 200

/** A string to search for; undefined if it is not given. @throws InvalidRequestError naming the parameter. */
export function readQueryText(query: PageQuery, name: string): string | undefined {
  const value = query[name]
  if (value !== undefined && (value === '' || value.length > CHARACTERS_MAX)) {
    throw new InvalidRequestError([{ path: name, message: `\`${name}\` must have 1 to ${CHARACTERS_MAX} characters` }])
  }
  return value
}

/** The id of a tenant, which `allowedTenant` checks; undefined if it is not given. */
export function readQueryTenant({ tenant }: PageQuery): string | undefined {
  return tenant
}
