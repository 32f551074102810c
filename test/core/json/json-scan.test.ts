import { describe, expect, it } from 'vitest'
import { closingQuote, JsonScan } from '#core/json/json-scan.ts'

describe('JsonScan', () => {
  it('walks over an object, its names decoded, and stops behind it', () => {
    const scan = new JsonScan(' { "a" : [1, "]"] , "\\u0062":{"c":"}"},"d":-1.5e3 } rest')
    expect(scan.nextKind()).toBe('object')
    scan.index += 1
    const fields: [string, string][] = []
    while (!scan.isOver()) {
      const name = scan.readName()
      const start = scan.index
      scan.skipValue()
      fields.push([name, scan.text.slice(start, scan.index)])
      scan.skipComma()
    }
    expect(fields).toStrictEqual([
      ['a', '[1, "]"]'],
      ['b', '{"c":"}"}'],
      ['d', '-1.5e3'],
    ])
    expect(scan.text.slice(scan.index)).toBe(' rest')
  })

  it.each(['"a\\q"', '"\\u00"', '"a\\', 'a"\\"'])('walks past the name %s, which no parser could decode', (name) => {
    const scan = new JsonScan(`{${name}:1}`)
    scan.index += 1
    expect(() => scan.readName()).not.toThrow()
    expect(scan.index).toBeGreaterThan(1)
  })

  it.each([
    ['[]', 'list'],
    ['\n\t{}', 'object'],
    [' "{"', 'other'],
    ['null', 'other'],
  ])('tells what begins at %j', (text, kind) => {
    expect(new JsonScan(text).nextKind()).toBe(kind)
  })

  it.each(['[1,', '{"a":', '{"a":[', '{"a":"'])('is over at the end of the broken text %s', (text) => {
    const scan = new JsonScan(text)
    scan.skipValue()
    expect(scan.isOver()).toBe(true)
    expect(scan.isAtEnd).toBe(true)
  })
})

describe('closingQuote', () => {
  it.each([
    ['""', 1],
    ['"\\""', 3],
    ['"\\\\"', 3],
    ['"\\\\\\"" "', 5],
    ['"never closed', 13],
    ['"never closed\\"', 15],
  ])('%s: finds the closing quote at %i', (text, end) => {
    expect(closingQuote(text, 0)).toBe(end)
  })
})
