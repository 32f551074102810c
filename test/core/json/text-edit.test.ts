import { describe, expect, it } from 'vitest'
import { applyTextEdits, inOrder } from '#core/json/text-edit.ts'

describe('applyTextEdits', () => {
  it('replaces, removes and inserts, in any order of the edits', () => {
    const edits = [
      { start: 5, end: 5, replacement: '+' },
      { start: 0, end: 1, replacement: 'AA' },
      { start: 3, end: 5, replacement: '' },
    ]
    expect(applyTextEdits('abcdefg', edits)).toBe('AAbc+fg')
  })

  it('returns the text itself without edits', () => {
    expect(applyTextEdits('abc', [])).toBe('abc')
  })
})

describe('inOrder', () => {
  it('keeps the order of edits at one place', () => {
    const first = { start: 2, end: 2, replacement: 'a' }
    const second = { start: 2, end: 2, replacement: 'b' }
    expect(inOrder([second, { start: 0, end: 1, replacement: '' }, first]).slice(1)).toStrictEqual([second, first])
  })
})
