import { existsSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { keptInRun } from './kept-in-run.ts'
import { LONGEST } from './longest-first.ts'

describe('keptInRun', () => {
  const kind = `of-this-test-${process.pid}-${Date.now()}`
  let count = 0
  const make = () => {
    count += 1
    return { count }
  }

  it('makes a value once for all files of a run, and gives each caller one of its own', () => {
    const first = keptInRun(kind, { a: 1, b: [undefined, 2n] }, make)
    const second = keptInRun(kind, { a: 1, b: [undefined, 2n] }, make)
    expect([first, second]).toEqual([{ count: 1 }, { count: 1 }])
    expect(second).not.toBe(first)
  })

  it('makes another value for anything else on which it depends', () => {
    expect(keptInRun(kind, { a: 1, b: [undefined, 3n] }, make)).toEqual({ count: 2 })
    expect(keptInRun(`${kind}-other`, { a: 1, b: [undefined, 2n] }, make)).toEqual({ count: 3 })
  })

  it('keeps nothing of what could not be made', () => {
    const fail = () => keptInRun(kind, 'fails', () => JSON.parse('{'))
    expect(fail).toThrow(SyntaxError)
    expect(fail).toThrow(SyntaxError)
  })
})

describe('longest first', () => {
  it.each(LONGEST)('the file that begins early exists: %s', (file) => {
    expect(existsSync(file)).toBe(true)
  })
})
