import { describe, expect, it } from '@jest/globals'
import { csvLine, formatTable } from '../../lib/cli/output.ts'

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

describe('csvLine', () => {
  it.each([
    [['a', '', 'b'], 'a,,b\r\n'],
    [['a,b', 'c"d', 'e\nf', 'g\rh'], '"a,b","c""d","e\nf","g\rh"\r\n'],
    [['=1+1', '+1', '-cmd', '@x', '\tx', '\rx'], "'=1+1,'+1,'-cmd,'@x,\"'\tx\",\"'\rx\"\r\n"],
    [['=HYPERLINK("http://x","y")'], '"\'=HYPERLINK(""http://x"",""y"")"\r\n'],
    [['＝1', '＋1', '－1', '＠x'], "'＝1,'＋1,'－1,'＠x\r\n"],
    [['x;=cmd', 'x\ty', 'x\t=cmd', 'x;y'], '"x;\'=cmd","x\ty","x\t\'=cmd","x;y"\r\n'],
    [['-0.5', '-1', '0.000001'], '-0.5,-1,0.000001\r\n'],
    [['\u001b[31mx\u202e\n\u0007'], '"\\u{1b}[31mx\\u{202e}\n\\u{7}"\r\n'],
  ])('quotes %j where a reader of CSV needs quotes, and leaves no formula and no control sequence', (cells, line) => {
    expect(csvLine(cells)).toBe(line)
  })
})
