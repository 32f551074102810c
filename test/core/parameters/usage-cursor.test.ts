import { describe, expect, it } from 'vitest'
import { readUsageCursor, type UsageCursor, writeUsageCursor } from '#core/parameters/usage-cursor.ts'

const cursor: UsageCursor = {
  from: '2026-11-01',
  to: '2026-11-22',
  groupBy: ['model', 'day'],
  last: ['vendor/chat#β', '2026-11-05'],
}
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('writeUsageCursor', () => {
  it('writes what readUsageCursor reads, with characters that are safe in a url', () => {
    const text = writeUsageCursor(cursor)
    expect(readUsageCursor(text)).toEqual(cursor)
    expect(text).toMatch(/^[\w-]+$/)
  })
})

describe('readUsageCursor', () => {
  it.each([
    ['an empty string', ''],
    ['a string that is not base64', '%%%'],
    ['a string that is not JSON', Buffer.from('{').toString('base64url')],
    ['another shape', encode({ from: '2026-11-01' })],
    ['an unknown dimension', encode(['2026-11-01', '2026-11-22', ['tenant'], ['acme']])],
    ['fewer values than dimensions', encode(['2026-11-01', '2026-11-22', ['day', 'model'], ['2026-11-05']])],
    ['no dimension', encode(['2026-11-01', '2026-11-22', [], []])],
    ['a repeated dimension', encode(['2026-11-01', '2026-11-22', ['day', 'day'], ['2026-11-05', '2026-11-05']])],
    ['a day that is none', encode(['2026-11-01', 'zzz', ['day'], ['2026-11-05']])],
    ['a string that is too long', 'A'.repeat(5_000)],
  ])('refuses %s', (_, text) => {
    expect(readUsageCursor(text)).toBeUndefined()
  })
})
