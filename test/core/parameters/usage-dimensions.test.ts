import { describe, expect, it } from 'vitest'
import { readDimensions } from '#core/parameters/usage-dimensions.ts'

describe('readDimensions', () => {
  it.each([
    ['day', ['day']],
    ['operation,key,model,day', ['operation', 'key', 'model', 'day']],
    ['key,day', ['key', 'day']],
  ])('reads %s in its order', (text, expected) => {
    expect(readDimensions(text)).toEqual(expected)
  })

  it.each(['', 'tenant', 'day,', 'day,day', 'key,model,key', 'Day', 'day, model'])('refuses "%s"', (text) => {
    expect(readDimensions(text)).toBeUndefined()
  })
})
