import { describe, expect, it } from 'vitest'
import { hasBearer } from '../../../lib/simulators/shared/bearer.ts'

describe('bearer', () => {
  it.each([
    ['Bearer key', 'key', true],
    ['bearer  key', 'key', true],
    ['Bearer other', 'key', false],
    ['Bearer any', undefined, true],
    ['Bearer ', undefined, false],
    ['Basic key', 'key', false],
    [undefined, undefined, false],
  ])('%j, where %j is expected: %j', (authorization, expected, isRight) => {
    expect(hasBearer(authorization === undefined ? {} : { authorization }, expected)).toBe(isRight)
  })
})
