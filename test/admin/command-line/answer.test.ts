import { describe, expect, it } from 'vitest'
import { formatTable } from '../../../lib/cli/output.ts'

describe('formatTable', () => {
  it('aligns every column with its widest cell, and leaves no spaces at the ends of lines', () => {
    const rows = [
      ['a', 'long cell', 'x'],
      ['bbbb', 'c', ''],
    ]
    expect(formatTable(['ID', 'NAME', 'STATE'], rows).split('\n')).toEqual([
      'ID    NAME       STATE',
      'a     long cell  x',
      'bbbb  c',
    ])
  })

  it('has no line for an empty header, and a dash for an empty cell', () => {
    expect(formatTable([], [['name', null]])).toBe('name  -')
  })

  it('shows a cell with a line break or a control sequence on one line, escaped', () => {
    expect(formatTable(['NAME', 'ID'], [['a\n\u001b[2J', '1']]).split('\n')).toEqual([
      'NAME             ID',
      'a\\u{a}\\u{1b}[2J  1',
    ])
  })
})
