import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type InjectedFields, InvalidInjectedValueError, spliceInjected } from '#core/json/json-fields.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'

/** Whitespace that JSON allows between any two tokens. */
const whitespace = fc.array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 3 }).map((parts) => parts.join(''))

/** Values as raw text, among them spellings that a parse-and-write round would change. */
const rawValue = fc.oneof(
  fc.json(),
  fc.constantFrom(
    '5.0',
    '1E2',
    '-0',
    '12345678901234567890',
    '13.2400',
    '"\\u0041\\/"',
    '{ "id" : [ "}" , "," ] }',
    '"\\\\"',
    'null',
  ),
)

/** Names that collide, with and without escapes, and names that are traps for object code. */
const rawName = fc.oneof(
  fc.constantFrom('"id"', '"\\u0069d"', '"status"', '"__proto__"', '"constructor"', '"url"', '"a\\"b"', '""', '"0"'),
  fc.string().map((text) => JSON.stringify(text)),
)

type RawField = { name: string; value: string }
const rawFields = fc.array(fc.record({ name: rawName, value: rawValue }), { maxLength: 8 })

function writeObject(fields: readonly RawField[], space: string): string {
  const written = fields.map(({ name, value }) => `${space}${name}${space}:${space}${value}${space}`)
  return `${space}{${written.join(',')}${space}}${space}`
}

const injectedFields = fc.record(
  {
    id: fc.uuid(),
    status: fc.constantFrom('queued', 'processing', 'succeeded', 'failed', 'expired'),
    created_at: fc.integer({ min: 0 }),
    url: fc.webUrl(),
    error: fc.string(),
  },
  { requiredKeys: [] },
)

const decodeName = (text: string): string => String(JSON.parse(text))

describe('spliceInjected', () => {
  it('parses to the upstream object with the injected fields over it, for any object and any whitespace', () => {
    fc.assert(
      fc.property(rawFields, whitespace, injectedFields, (fields, space, injected) => {
        const text = writeObject(fields, space)
        const upstream: Record<string, unknown> = Object(parseJsonText(text))
        const actual = parseJsonText(spliceInjected(text, injected))
        expect(isDeepStrictEqual(actual, { ...upstream, ...injected })).toBe(true)
        expect(Object.keys(Object(actual))).toStrictEqual(Object.keys({ ...upstream, ...injected }))
      }),
    )
  })

  it('keeps every byte outside the injected values', () => {
    fc.assert(
      fc.property(rawFields, whitespace, injectedFields, (fields, space, injected) => {
        const values = new Map(Object.entries(injected).map(([name, value]) => [name, JSON.stringify(value)]))
        const present = new Set(fields.map(({ name }) => decodeName(name)))
        const expectedFields = fields.map(({ name, value }) => ({
          name,
          value: values.get(decodeName(name)) ?? value,
        }))
        const appended = [...values].filter(([name]) => !present.has(name)).map(([name, value]) => `"${name}":${value}`)
        const kept = writeObject(expectedFields, space)
        const head = fields.length === 0 ? `${space}{` : kept.slice(0, kept.length - `${space}${space}}${space}`.length)
        const separator = fields.length > 0 && appended.length > 0 ? ',' : ''
        expect(spliceInjected(writeObject(fields, space), injected)).toBe(
          `${head}${separator}${appended.join(',')}${kept.slice(head.length)}`,
        )
      }),
    )
  })

  it('never throws and always yields the injected fields, whatever the upstream sent', () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.constantFrom('', '{', '[]', 'null', '"{}"'),
    )
    fc.assert(
      fc.property(anyText, (text) => {
        expect(parseJsonText(spliceInjected(text, { id: 'job', status: 'failed' }))).toMatchObject({
          id: 'job',
          status: 'failed',
        })
      }),
    )
  })

  it('changes nothing when nothing is injected', () => {
    const text = ' { "a" : 5.0 , "a" : 12345678901234567890 } '
    expect(spliceInjected(text, {})).toBe(text)
  })

  it('keeps decimals, large integers, key order, escapes and unknown fields as they are', () => {
    const text = '{"z":5.0,"id":{"deep":[1,{"id":2}]},"seed":9223372036854775807,"b":1e2,"a":"\\u00e9\\/","error":null}'
    expect(spliceInjected(text, { id: 'job', status: 'succeeded' })).toBe(
      '{"z":5.0,"id":"job","seed":9223372036854775807,"b":1e2,"a":"\\u00e9\\/","error":null,"status":"succeeded"}',
    )
  })

  it.each([
    [
      'the queued answer to a submit',
      '{"id":"task_01h","task_id":"task_01h","object":"video.generation.task","status":"pending","progress":0}',
      { id: 'job', object: 'video.generation', status: 'queued', model: 'famA-2', created_at: 1776678917 },
      '{"id":"job","task_id":"task_01h","object":"video.generation","status":"queued","progress":0,"model":"famA-2","created_at":1776678917}',
    ],
    [
      'a failure whose error is an object upstream',
      '{"id":"cgt-1","created_at":1,"error":{"code":"Policy","message":"not allowed"},"status":"failed"}',
      { id: 'job', status: 'failed', created_at: 2, error: 'not allowed' },
      '{"id":"job","created_at":2,"error":"not allowed","status":"failed"}',
    ],
    [
      'a success with nested fields',
      '{"request_id":"r","output":{"task_status":"SUCCEEDED","video_url":"https://a/b?c=1&d=2"},"usage":{"duration":13.24}}',
      { id: 'job', status: 'succeeded', duration_secs: { rawJson: '6.62' } },
      '{"request_id":"r","output":{"task_status":"SUCCEEDED","video_url":"https://a/b?c=1&d=2"},"usage":{"duration":13.24},"id":"job","status":"succeeded","duration_secs":6.62}',
    ],
  ])('merges %s', (_name, upstream, injected, expected) => {
    expect(spliceInjected(upstream, injected)).toBe(expected)
  })

  it('finds a member whose name is written with escapes', () => {
    expect(spliceInjected('{"\\u0069d":1}', { id: 'job' })).toBe('{"\\u0069d":"job"}')
  })

  it('lets the injected value win over every repetition of a name', () => {
    expect(spliceInjected('{"id":1,"x":2,"id":3}', { id: 'job' })).toBe('{"id":"job","x":2,"id":"job"}')
  })

  it('never replaces fields of nested objects', () => {
    const text = '{"output":{"id":"up","status":"RUNNING"},"list":["id",{"id":1}]}'
    expect(spliceInjected(text, { id: 'job' })).toBe(`${text.slice(0, -1)},"id":"job"}`)
  })

  it('appends behind the last member, before the whitespace that ends a pretty-printed answer', () => {
    expect(spliceInjected('{\n  "a": 1\n}\n', { id: 'job' })).toBe('{\n  "a": 1,"id":"job"\n}\n')
    expect(spliceInjected(' { } ', { id: 'job' })).toBe(' {"id":"job" } ')
  })

  it('treats a member called __proto__ as data', () => {
    const spliced = spliceInjected('{"__proto__":{"status":"evil"}}', { id: 'job' })
    expect(spliced).toBe('{"__proto__":{"status":"evil"},"id":"job"}')
    expect(spliceInjected('{"constructor":1}', { id: 'job' })).toBe('{"constructor":1,"id":"job"}')
  })

  it.each([
    ['undefined', undefined],
    ['an empty text', ''],
    ['an array', '[{"a":1}]'],
    ['a string', '"{}"'],
    ['null', 'null'],
    ['HTML', '<html><body>{"a":1}</body></html>'],
    ['a truncated object', '{"a":1,"b":{"c":2}'],
    ['a truncated string', '{"a":"x\\"}'],
    ['trailing garbage', '{"a":1} x'],
    ['two objects', '{"a":1}{"b":2}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['a trailing comma', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['NaN', '{"a":NaN}'],
    ['a raw line feed in a string', '{"a":"x\ny"}'],
  ])('yields the injected fields alone for %s', (_name, text) => {
    expect(spliceInjected(text, { id: 'job', created_at: 7 })).toBe('{"id":"job","created_at":7}')
  })

  it('writes a raw number exactly and skips undefined fields', () => {
    const injected: InjectedFields = { duration_secs: { rawJson: '5.040' }, error: undefined }
    expect(spliceInjected('{"duration_secs":5}', injected)).toBe('{"duration_secs":5.040}')
    expect(spliceInjected(undefined, injected)).toBe('{"duration_secs":5.040}')
  })

  it.each(['', '05', '1.', '.5', 'NaN', '1,"x":2', '0x10', ' 5', '"5"', '-'])(
    'refuses the raw number %j',
    (rawJson) => {
      expect(() => spliceInjected('{}', { duration_secs: { rawJson } })).toThrow(InvalidInjectedValueError)
    },
  )

  it('refuses a number that JSON cannot write', () => {
    expect(() => spliceInjected('{}', { created_at: Number.NaN })).toThrow(InvalidInjectedValueError)
  })

  it('writes strings so that they cannot leave their quotes', () => {
    const error = 'a "quote", a \\ and \u2028'
    expect(JSON.parse(spliceInjected('{"error":{}}', { error }))).toStrictEqual({ error })
  })

  it('takes nesting of any depth and does not recurse', () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(spliceInjected(`{"deep":${nested}}`, { id: 'job' })).toBe(`{"deep":${nested},"id":"job"}`)
  })

  it('stays linear for megabytes of backslashes, quotes and fields', () => {
    const text = JSON.stringify({ a: '\\"'.repeat(500_000), b: Array.from({ length: 100_000 }, () => ({})) })
    expect(spliceInjected(text, { id: 'job' })).toHaveLength(text.length + ',"id":"job"'.length)
  })
})
