import { expect, it } from 'vitest'
import { tokensByLength } from '#core/parameters/tokens-by-length.ts'

it.each([
  [0, 0],
  [1, 1],
  [4, 1],
  [5, 2],
])('tokensByLength of %i bytes is %i, rounded up', (bytes, tokens) => {
  expect(tokensByLength(bytes)).toBe(tokens)
})
