import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { readCursor, writeCursor } from '#core/console/cursor.ts'
import { InvalidRequestError } from '#core/errors.ts'

const position = z.tuple([z.int(), z.string()])

test('readCursor reads what writeCursor wrote, which is safe in a url', () => {
  const cursor = writeCursor([17, 'grant#ä/?'])
  expect(encodeURIComponent(cursor)).toBe(cursor)
  expect(readCursor(cursor, position)).toEqual([17, 'grant#ä/?'])
})

test.each(['', 'nothing', writeCursor(['17', 'x']), writeCursor([1, 'x'.repeat(3_000)])])(
  'readCursor refuses %p and names the parameter',
  (cursor) => {
    expect(() => readCursor(cursor, position)).toThrow(InvalidRequestError)
  },
)
