import { describe, expect, it } from 'vitest'
import { nearestName } from '../../lib/cli/terminal.ts'

const NAMES = ['tenant', 'ledger', 'catalogue']

describe('nearest-name', () => {
  it.each([
    ['tenat', 'tenant'],
    ['LEDGER', 'ledger'],
    ['catalog', 'catalogue'],
    ['legder', 'ledger'],
  ])('of %s is %s', (typed, meant) => {
    expect(nearestName(typed, NAMES)).toBe(meant)
  })

  it.each(['bucket', 'tele', ''])('of %j is none: too many letters differ', (typed) => {
    expect(nearestName(typed, NAMES)).toBeUndefined()
  })

  it('is the one with the fewest changes', () => {
    expect(nearestName('keys', ['kept', 'key', 'keyset'])).toBe('key')
  })
})
