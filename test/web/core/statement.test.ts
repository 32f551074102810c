import { describe, expect, it } from 'vitest'
import { Statement } from '#web/core/statement.ts'

describe('Statement', () => {
  it('sums each kind exactly over pages, and names money that comes before money that goes', () => {
    const statement = new Statement()
    statement.add([
      { kind: 'settle', amount: '-0.000412' },
      { kind: 'grant', amount: '50' },
    ])
    statement.add([
      { kind: 'settle', amount: '-0.1' },
      { kind: 'later', amount: '1' },
    ])
    expect(statement.lines()).toEqual([
      { kind: 'grant', count: 1, amount: '50' },
      { kind: 'settle', count: 2, amount: '-0.100412' },
      { kind: 'later', count: 1, amount: '1' },
    ])
  })

  it('has no line without a row', () => {
    expect(new Statement().lines()).toEqual([])
  })
})
