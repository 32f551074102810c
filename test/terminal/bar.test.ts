import { describe, expect, it } from 'vitest'
import { bar } from '../../lib/cli/admin/usage.ts'

describe('bar', () => {
  it('fills its width for a whole, and nothing for zero', () => {
    expect(bar(1, 4)).toBe('████')
    expect(bar(0, 4)).toBe('')
  })

  it('shows eighths of a cell', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((eighths) => bar(eighths / 32, 4))).toEqual([
      '▏',
      '▎',
      '▍',
      '▌',
      '▋',
      '▊',
      '▉',
      '█',
      '█▏',
    ])
  })

  it('shows the smallest share above zero', () => {
    expect(bar(1e-9, 4)).toBe('▏')
  })

  it('is never wider than a whole', () => {
    expect(bar(0.9999, 4)).toBe('████')
  })
})
