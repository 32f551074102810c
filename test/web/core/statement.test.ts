import { describe, expect, it } from '@jest/globals'
import { statementLines } from '#web/core/statement.ts'

describe('statementLines', () => {
  it('sums each kind exactly, and the change of the balance', () => {
    const rows = [
      { kind: 'settle', amount: '-0.000412' },
      { kind: 'grant', amount: '50' },
      { kind: 'settle', amount: '-0.1' },
      { kind: 'later', amount: '1' },
    ]
    expect(statementLines(rows)).toEqual({
      lines: [
        { kind: 'grant', count: 1, amount: '50' },
        { kind: 'settle', count: 2, amount: '-0.100412' },
        { kind: 'later', count: 1, amount: '1' },
      ],
      change: '50.899588',
    })
  })

  it('has no line without a row', () => {
    expect(statementLines([])).toEqual({ lines: [], change: '0' })
  })
})
