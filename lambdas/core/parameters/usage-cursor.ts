import * as z from 'zod/mini'
import { parseJsonText } from '../json/parse-json-text.ts'
import { isDay } from './calendar-day.ts'
import { readDimensions, USAGE_DIMENSIONS, type UsageDimension } from './usage-dimensions.ts'

/** Where a page of usage ended: its query, and the values of its last group, in the order of `groupBy`. */
export type UsageCursor = {
  /** UTC, `yyyy-mm-dd`. */
  readonly from: string
  readonly to: string
  readonly groupBy: readonly UsageDimension[]
  readonly last: readonly string[]
}

const day = z.string().check(z.refine(isDay))

/** Each dimension once: a cursor is not signed, and each repetition would cost as much as another dimension. */
const dimensions = z
  .array(z.enum(USAGE_DIMENSIONS))
  .check(z.refine((names) => readDimensions(names.join()) !== undefined))

const content = z.tuple([day, day, dimensions, z.array(z.string())])

/** Much longer than any cursor of this service: four names. */
const CHARACTERS_MAX = 4_096

/** Writes a cursor as an opaque string that is safe in a url. It contains only values that its page shows. */
export function writeUsageCursor({ from, to, groupBy, last }: UsageCursor): string {
  return Buffer.from(JSON.stringify([from, to, groupBy, last])).toString('base64url')
}

/** Reads a cursor; undefined for a string that {@link writeUsageCursor} did not write. */
export function readUsageCursor(text: string): UsageCursor | undefined {
  const parsed = content.safeParse(parseJson(text))
  if (!parsed.success) {
    return undefined
  }
  const [from, to, groupBy, last] = parsed.data
  return groupBy.length === last.length ? { from, to, groupBy, last } : undefined
}

function parseJson(text: string): unknown {
  try {
    return text.length > CHARACTERS_MAX ? undefined : parseJsonText(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}
