import { describe, expect, it } from 'vitest'
import { beginsAsObject } from '#core/json/json-marks.ts'

describe('beginsAsObject', () => {
  it.each<[boolean, string[]]>([
    [true, ['{']],
    [true, [' \r\n', '\t{"a":1}']],
    [true, ['\ufeff{']],
    [false, []],
    [false, ['   ']],
    [false, ['<html>{']],
    [false, ['[{']],
  ])('is %s for chunks of %j', (begins, texts) => {
    expect(beginsAsObject(texts.map((text) => Buffer.from(text)))).toBe(begins)
  })
})
