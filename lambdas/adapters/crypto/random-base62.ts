import { randomBytes } from 'node:crypto'
import { base62FromBytes } from '#core/api-key.ts'

/** Random characters. Bytes above 247, about one in thirty, are thrown away; four times as many bytes as characters are enough. */
export function randomBase62(count: number): string {
  return base62FromBytes(randomBytes(count * 4), count)
}
