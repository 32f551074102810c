import * as z from 'zod/mini'
import { InvalidRequestError } from '../errors.ts'
import { parseJsonText } from '../json/parse-json-text.ts'
import { formatCredits } from '../money.ts'
import type { UserKeeping } from '../named-users.ts'
import {
  addUsageSums,
  daysBefore,
  isDay,
  NO_USAGE,
  type UsageCounter,
  type UsageSums,
  usageView,
} from '../pricing/usage.ts'

/** What usage can be grouped by. `key` is the public id of an API key, `user` is whom requests named, where the tenant counts it. */
export const USAGE_DIMENSIONS = ['day', 'model', 'key', 'operation', 'user'] as const

/** One of {@link USAGE_DIMENSIONS}. */
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

/** Reads dimensions that are separated by commas, in any order; undefined if one is unknown or repeated, or there is none. */
export function readDimensions(text: string): readonly UsageDimension[] | undefined {
  const names = text.split(',')
  const dimensions = names.flatMap((name) => USAGE_DIMENSIONS.filter((dimension) => dimension === name))
  const isValid = dimensions.length === names.length && new Set(dimensions).size === names.length
  return isValid ? dimensions : undefined
}

/** Values of dimensions that counters must have; empty for all counters. */
type UsageFilter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>

const FILTERS = ['model', 'key', 'operation'] as const

/** Where a page of usage ended: its query, and the values of its last group, in the order of `groupBy`. */
export type UsageCursor = {
  /** UTC, `yyyy-mm-dd`. */
  readonly from: string
  readonly to: string
  readonly groupBy: readonly UsageDimension[]
  readonly filter: UsageFilter
  readonly last: readonly string[]
}

const day = z.string().check(z.refine(isDay))

/** Each dimension once: a cursor is not signed, and each repetition would cost as much as another dimension. */
const dimensions = z
  .array(z.enum(USAGE_DIMENSIONS))
  .check(z.refine((names) => readDimensions(names.join()) !== undefined))

const filterContent = z.partialRecord(z.enum(FILTERS), z.string())

const content = z.tuple([day, day, dimensions, filterContent, z.array(z.string())])

/** Much longer than any cursor of this service: seven names. */
const CHARACTERS_MAX = 4_096

/** Writes a cursor as an opaque string that is safe in a url. It contains only values that its page shows. */
export function writeUsageCursor({ from, to, groupBy, filter, last }: UsageCursor): string {
  return Buffer.from(JSON.stringify([from, to, groupBy, filter, last])).toString('base64url')
}

/** Reads a cursor; undefined for a string that {@link writeUsageCursor} did not write. */
export function readUsageCursor(text: string): UsageCursor | undefined {
  const parsed = content.safeParse(parseJson(text))
  if (!parsed.success) {
    return undefined
  }
  const [from, to, groupBy, filter, last] = parsed.data
  return groupBy.length === last.length ? { from, to, groupBy, filter, last } : undefined
}

function parseJson(text: string): unknown {
  try {
    return text.length > CHARACTERS_MAX ? undefined : parseJsonText(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** Most days of one query, and the days without a `from`. */
const DAYS = { max: 92, default: 30 } as const

/** Most groups on a page, and the groups without a `limit`. */
const GROUPS_MAX = 1_000

/** A query of usage. Days are UTC, `yyyy-mm-dd`, both included. */
export type UsageQuery = {
  readonly from: string
  readonly to: string
  readonly groupBy: readonly UsageDimension[]
  readonly filter: UsageFilter
  readonly limit: number
  /** The last group of the page before; undefined for the first page. */
  readonly after: readonly string[] | undefined
}

type RawQuery = Readonly<Record<string, string | undefined>>

/**
 * Reads the query of `GET /v1/usage`. With `after`, parameters that are left out are those of the page before.
 * @param today UTC, `yyyy-mm-dd`.
 * @throws InvalidRequestError naming each wrong parameter.
 */
export function parseUsageQuery(query: RawQuery, today: string): UsageQuery {
  const cursor = query.after === undefined ? undefined : readCursor(query.after)
  const to = query.to === undefined ? (cursor?.to ?? today) : readDay('to', query.to)
  const from =
    query.from === undefined ? (cursor?.from ?? daysBefore(to, DAYS.default - 1)) : readDay('from', query.from)
  const groupBy = query.group_by === undefined ? (cursor?.groupBy ?? ['day']) : readGroupBy(query.group_by)
  const filter = readFilter(query, cursor)
  const limit = query.limit === undefined ? GROUPS_MAX : readLimit(query.limit)
  refuseRange(from, to)
  if (cursor !== undefined && !isSameQuery(cursor, { from, to, groupBy, filter })) {
    throw invalid('after', CURSOR_MESSAGE)
  }
  return { from, to, groupBy, filter, limit, after: cursor?.last }
}

const CURSOR_MESSAGE =
  '`after` must be `next` of the page before; leave out `from`, `to`, `group_by` and filters, or repeat those of that page'

function readCursor(text: string): UsageCursor {
  const cursor = readUsageCursor(text)
  if (cursor === undefined) {
    throw invalid('after', CURSOR_MESSAGE)
  }
  return cursor
}

function isSameQuery(cursor: UsageCursor, { from, to, groupBy, filter }: Omit<UsageCursor, 'last'>): boolean {
  const isSameFilter = FILTERS.every((name) => cursor.filter[name] === filter[name])
  return cursor.from === from && cursor.to === to && cursor.groupBy.join() === groupBy.join() && isSameFilter
}

function readFilter(query: RawQuery, cursor: UsageCursor | undefined): UsageFilter {
  const given = FILTERS.flatMap((name) => {
    const value = query[name] ?? cursor?.filter[name]
    if (value !== undefined && (value === '' || value.length > NAME_CHARACTERS_MAX)) {
      throw invalid(name, `\`${name}\` must be one ${FILTER_WORDS[name]}`)
    }
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(given)
}

/** Longer than any id of a model or a key, and any operation. */
const NAME_CHARACTERS_MAX = 128

const FILTER_WORDS = {
  model: 'id of a model',
  key: 'public id of an api key',
  operation: 'operation, such as create-chat-completion',
} as const

function readDay(name: 'from' | 'to', text: string): string {
  if (!isDay(text)) {
    throw invalid(name, `\`${name}\` must be a day in UTC, such as 2026-11-01`)
  }
  return text
}

function readGroupBy(text: string): readonly UsageDimension[] {
  const dimensions = readDimensions(text)
  if (dimensions === undefined) {
    const allowed = USAGE_DIMENSIONS.join(', ')
    throw invalid('group_by', `\`group_by\` must hold some of ${allowed}, each once, separated by commas`)
  }
  return dimensions
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > GROUPS_MAX) {
    throw invalid('limit', `\`limit\` must be a whole number from 1 to ${GROUPS_MAX}`)
  }
  return limit
}

function refuseRange(from: string, to: string): void {
  if (from > to) {
    throw invalid('from', '`from` must not be after `to`, which is today by default')
  }
  if (from < daysBefore(to, DAYS.max - 1)) {
    throw invalid(
      'from',
      `\`from\` must be at most ${DAYS.max - 1} days before \`to\`: a range has at most ${DAYS.max} days`,
    )
  }
}

function invalid(path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ path, message }])
}

/** Refuses a grouping by users that are not counted. @throws InvalidRequestError */
export function requireUsers({ groupBy }: Pick<UsageQuery, 'groupBy'>, keeping: UserKeeping): void {
  if (groupBy.includes('user') && keeping === 'off') {
    throw invalid(
      'group_by',
      '`user` is not counted for this tenant: its operator can switch it on with `tenant users`',
    )
  }
}

/** The sums of all counters with the same values of the dimensions. */
export type UsageGroup = {
  /** In the order of the dimensions that the usage is grouped by. */
  readonly values: readonly string[]
  readonly sums: UsageSums
}

/** Groups with their total. Memory grows with the number of groups, not of counters. */
export class UsageGroups {
  readonly #groupBy: readonly (UsageDimension | 'tenant')[]
  readonly #groups = new Map<string, UsageGroup>()
  #total = NO_USAGE

  constructor(groupBy: readonly (UsageDimension | 'tenant')[]) {
    this.#groupBy = groupBy
  }

  /** @param tenant for groups of several tenants. */
  add({ day, keyId, operation, model, user = '', ...sums }: UsageCounter, tenant = ''): void {
    const dimensions = { day, key: keyId, operation, model, user, tenant }
    const values = this.#groupBy.map((dimension) => dimensions[dimension])
    const name = JSON.stringify(values)
    const group = this.#groups.get(name)
    this.#groups.set(name, { values, sums: addUsageSums(group?.sums ?? NO_USAGE, sums) })
    this.#total = addUsageSums(this.#total, sums)
  }

  /** The sum of all counters. */
  get total(): UsageSums {
    return this.#total
  }

  /** Every group, sorted by its first value, then by its second, and so on. */
  sorted(): readonly UsageGroup[] {
    return [...this.#groups.values()].toSorted((left, right) => compareValues(left.values, right.values))
  }
}

/** Compares by code units, value by value: below zero if `left` comes first. */
export function compareValues(left: readonly string[], right: readonly string[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? ''
    if (value !== other) {
      return value < other ? -1 : 1
    }
  }
  return 0
}

/** The body of `GET /v1/usage`: one page of groups, and the total of all pages. */
export function usageReport(counters: Iterable<UsageCounter>, query: UsageQuery) {
  const { from, to, groupBy, filter, limit, after } = query
  const groups = new UsageGroups(groupBy)
  for (const counter of counters) {
    if (isWanted(counter, filter)) {
      groups.add(counter)
    }
  }
  const rest = groups.sorted().filter(({ values }) => after === undefined || compareValues(values, after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)?.values
  const hasMore = rest.length > page.length
  const next = hasMore && last !== undefined ? writeUsageCursor({ from, to, groupBy, filter, last }) : null
  return { ...usagePage(query, page, groups.total), has_more: hasMore, next }
}

function isWanted({ model, keyId, operation }: UsageCounter, filter: UsageFilter): boolean {
  const values = { model, key: keyId, operation }
  return FILTERS.every((name) => filter[name] === undefined || filter[name] === values[name])
}

type GroupedQuery = { readonly from: string; readonly to: string; readonly groupBy: readonly string[] }

/** A page of groups with the total of all pages, as a response shows them. */
export function usagePage({ from, to, groupBy }: GroupedQuery, page: readonly UsageGroup[], total: UsageSums) {
  return {
    object: 'list' as const,
    from,
    to,
    group_by: groupBy,
    data: page.map(({ values, sums }) => ({ ...dimensionsOf(groupBy, values), ...usageSumsView(sums) })),
    total: usageSumsView(total),
  }
}

function dimensionsOf(
  groupBy: readonly string[],
  values: readonly string[],
): { readonly [Name in UsageDimension | 'tenant']?: string | undefined } {
  return Object.fromEntries(groupBy.map((dimension, index) => [dimension, values[index] ?? '']))
}

/** Sums as a response shows them. */
export function usageSumsView(sums: UsageSums) {
  return { requests: sums.requests, ...usageView(sums), cost: formatCredits(sums.cost) }
}
