import { describe, expect, it } from 'vitest'
import { csvFileName, csvLines } from '#web/core/csv.ts'

describe('csv', () => {
  it.each(['=1+1', '+cmd', '-cmd|calc', '@sum(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', '＠x', '-1+cmd|calc', '+1;=x'])(
    'disarms a cell that a spreadsheet would run: %j',
    (cell) => {
      expect(csvLines([[cell]])).toMatch(/^"?'/)
    },
  )

  it('disarms a formula behind what some spreadsheets take as a separator', () => {
    expect(csvLines([['x;=cmd'], ['x\t+1'], ['x\n@y'], ['x;y']])).toBe(
      '"x;\'=cmd"\r\n"x\t\'+1"\r\n"x\n\'@y"\r\n"x;y"\r\n',
    )
  })

  it('leaves negative amounts what they are', () => {
    expect(csvLines([['-0.000412'], ['+50'], [-3]])).toBe('-0.000412\r\n+50\r\n-3\r\n')
  })

  it('quotes commas, quotes and lines, and writes nothing for what is absent', () => {
    expect(
      csvLines([
        ['a', 'b'],
        ['x,"y"', 'one\ntwo'],
        [null, undefined],
      ]),
    ).toBe('a,b\r\n"x,""y""","one\ntwo"\r\n,\r\n')
  })

  it('names a file without a path, whatever the filters hold', () => {
    const now = new Date('2026-11-22T10:00:00Z')
    expect(csvFileName(['ledger', '../../etc/Passwd', undefined], { now })).toBe(
      'reelgate-ledger-etc-passwd-2026-11-22.csv',
    )
  })

  it('says in the name of a file that rows are missing', () => {
    const now = new Date('2026-11-22T10:00:00Z')
    expect(csvFileName(['ledger'], { now, isIncomplete: true })).toBe('reelgate-ledger-2026-11-22-incomplete.csv')
  })
})
