import { describe, expect, it } from 'vitest'
import { fieldTree } from '#core/json/json-fields.ts'

describe('fieldTree', () => {
  it('has each path, with shared beginnings once', () => {
    expect(fieldTree(['a', 'b.c', 'b.d.e'])).toStrictEqual(
      new Map<string, unknown>([
        ['a', 'whole'],
        [
          'b',
          new Map<string, unknown>([
            ['c', 'whole'],
            ['d', new Map([['e', 'whole']])],
          ]),
        ],
      ]),
    )
  })

  it.each([[['a', 'a.b']], [['a.b', 'a']], [['a.b.c', 'a', 'a.d']]])(
    'has a field as a whole if one path of %j names it',
    (paths) => {
      expect(fieldTree(paths)).toStrictEqual(new Map([['a', 'whole']]))
    },
  )

  it('is empty without paths', () => {
    expect(fieldTree([])).toStrictEqual(new Map())
  })
})
