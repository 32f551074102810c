import type * as z from 'zod/mini'
import { InvalidRequestError } from '../errors.ts'
import { parseJsonText } from '../json/parse-json-text.ts'

/** Longer than any cursor: two ids. */
const CHARACTERS_MAX = 2_048

/** Writes a cursor as an opaque string that is safe in a url. It may contain only values that its page shows. */
export function writeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** Reads a cursor. @throws InvalidRequestError for a string that {@link writeCursor} did not write for such a list. */
export function readCursor<Schema extends z.ZodMiniType>(text: string, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(text))
  if (!parsed.success) {
    throw new InvalidRequestError([{ path: 'after', message: '`after` must be `next` of the page before' }])
  }
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    return text.length > CHARACTERS_MAX ? undefined : parseJsonText(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}
