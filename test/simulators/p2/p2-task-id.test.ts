import { describe, expect, it } from 'vitest'
import { p2TaskId } from '../../../lib/simulators/p2/p2-task-id.ts'

describe('p2-task-id', () => {
  it('is cgt-, the time in UTC+8 and five characters that differ within a second', () => {
    const now = Date.UTC(2030, 0, 1, 0, 0, 0)
    const ids = Array.from({ length: 20 }, () => p2TaskId(now))
    expect(ids[0]).toMatch(/^cgt-20300101080000-[a-z0-9]{5}$/)
    expect(new Set(ids).size).toBe(20)
  })
})
