import { timingSafeEqual } from 'node:crypto'

/** Whether two strings are the same, in a time that depends on their lengths alone. */
export function isSameString(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
