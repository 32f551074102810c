import { randomInt } from 'node:crypto'
import { utc8Digits } from '../shared/utc8-time.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const TAIL_LENGTH = 5

/** `cgt-`, the time in UTC+8, and five characters. */
export function p2TaskId(nowMs: number): string {
  const tail = Array.from({ length: TAIL_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)])
  return `cgt-${utc8Digits(nowMs)}-${tail.join('')}`
}
