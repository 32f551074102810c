import { expect, it } from 'vitest'
import { PROCESS_ID, RelayHold } from '#adapters/store/money/relay-hold.ts'
import { timeOfId } from '#core/ids.ts'

it('relay-hold: has an id of its own that begins with the time and ends in its process', () => {
  const before = Date.now()
  const ids = Array.from({ length: 20 }, () => new RelayHold('tenant').holdId)
  expect(new Set(ids).size).toBe(20)
  for (const id of ids) {
    expect(id.endsWith(PROCESS_ID)).toBe(true)
    expect(timeOfId(id)).toBeGreaterThanOrEqual(before)
  }
})
