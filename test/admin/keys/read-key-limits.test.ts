import { describe, expect, it } from 'vitest'
import { CommandValues } from '../../../lib/cli/admin/command.ts'
import { readExpiry, readModels, readRate } from '../../../lib/cli/admin/keys.ts'

const NOW = Date.parse('2026-11-22T00:00:00Z')
const given = (option: string, text: string) => new CommandValues(new Map([[option, text]]))
const nothing = new CommandValues(new Map())

describe('read-key-limits', () => {
  it('tell an option that was not given from its word for no limit', () => {
    expect([readModels(nothing), readRate(nothing), readExpiry(nothing, NOW)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(readRate(given('rate', 'none'))).toBeNull()
  })

  it('read models, a rate and an expiry', () => {
    expect(readModels(given('models', 'a, b,,'))).toEqual(['a', 'b'])
    expect(readRate(given('rate', '60'))).toBe(60)
    expect(readExpiry(given('expires', '1d'), NOW)).toBe(NOW + 86_400_000)
  })

  it.each([
    [() => readModels(given('models', ' , ')), '--models is empty'],
    [() => readRate(given('rate', '60001')), '--rate 60001: use at most 60000, or none'],
    [() => readRate(given('rate', 'fast')), '--rate fast: use a whole number'],
    [() => readExpiry(given('expires', '2020-01-01'), NOW), '--expires 2020-01-01: use a time in the future'],
  ])('refuse what is none: %#', (read, message) => {
    expect(read).toThrow(message)
  })
})
