import { describe, expect, it } from 'vitest'
import { csvLine } from '../../../lib/cli/output.ts'

describe('csvLine', () => {
  it.each([
    [['a', '', 'b'], 'a,,b\r\n'],
    [['a,b', 'c"d', 'e\nf', 'g\rh'], '"a,b","c""d","e\nf","g\rh"\r\n'],
    [['=1+1', '+1', '-cmd', '@x', '\tx', '\rx'], "'=1+1,'+1,'-cmd,'@x,\"'\tx\",\"'\rx\"\r\n"],
    [['=HYPERLINK("http://x","y")'], '"\'=HYPERLINK(""http://x"",""y"")"\r\n'],
    [['＝1', '＋1', '－1', '＠x'], "'＝1,'＋1,'－1,'＠x\r\n"],
    [['x;=cmd', 'x\ty', 'x\t=cmd', 'x;y'], '"x;\'=cmd","x\ty","x\t\'=cmd","x;y"\r\n'],
    [['-0.5', '-1', '0.000001'], '-0.5,-1,0.000001\r\n'],
  ])('quotes %j where a reader of CSV needs quotes, and leaves no formula', (cells, line) => {
    expect(csvLine(cells)).toBe(line)
  })
})
