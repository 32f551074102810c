import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree } from '#core/json/json-fields.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { microcredits } from '#core/money.ts'
import { StreamedJsonReply } from '#core/relay/whole-reply.ts'
import { rulesOf } from './reply-rules.ts'
import { bytesOf, writtenObject } from './written-json.ts'

type Form = ConstructorParameters<typeof StreamedJsonReply>[0]

const FORM: Form = { ...rulesOf('public "id"'), list: 'choices' }

/** Passes a text in pieces of so many bytes. */
function pass(text: string, size = text.length + 1, form = FORM) {
  const passing = new StreamedJsonReply(form)
  const bytes = Buffer.from(text)
  const out: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) {
    for (const piece of passing.push(bytes.subarray(at, at + size))) {
      out.push(piece)
    }
  }
  const { usage, entries, isComplete } = passing
  return { text: Buffer.concat(out).toString(), usage, entries, isComplete }
}

describe('PassingReply', () => {
  it.each([1, 2, 3, 7, 1_000])('gets the public model and keeps every other byte (pieces of %d bytes)', (size) => {
    const text =
      '\ufeff { "id" : "ü\\"{[" , "model":"up-1" ,"choices":[ {"model":"up-1","x":[{}]}, {} ],"n":-1.50e3, "usage":{"a":1} }\n'
    expect(pass(text, size)).toStrictEqual({
      text: text.replace('"up-1" ', '"public \\"id\\"" '),
      usage: { a: 1 },
      entries: 2,
      isComplete: true,
    })
  })

  it.each([
    ['a string with quotes', '{"model":"a\\"}","b":1}', '{"model":"public \\"id\\"","b":1}'],
    ['null', '{"model":null}', '{"model":"public \\"id\\""}'],
    ['an object', '{"model":{"a":["}"]},"b":[]}', '{"model":"public \\"id\\"","b":[]}'],
    ['an escaped name', '{"\\u006dodel":"a"}', '{"\\u006dodel":"public \\"id\\""}'],
    [
      'one at each end',
      '{"model":"a","b":1,"model":"c"}',
      '{"model":"public \\"id\\"","b":1,"model":"public \\"id\\""}',
    ],
  ])('never shows the id of its upstream: %s', (_, text, passed) => {
    for (const size of [1, 2, 5, 100]) {
      expect(pass(text, size).text).toBe(passed)
    }
  })

  it('reads usage and entries as a parser does, whatever JSON it is, in whatever pieces', () => {
    const member = fc.constantFrom('usage', 'choices', 'data', 'id', 'm"o', 'Model')
    const list = fc.array(fc.oneof(fc.jsonValue(), fc.object()))
    fc.assert(
      fc.property(
        fc.dictionary(member, fc.oneof(fc.jsonValue(), list)),
        fc.nat(9),
        fc.nat(2),
        (value, size, indent) => {
          const text = JSON.stringify(value, undefined, indent)
          const parsed = Object(parseJsonText(text))
          const entries = Array.isArray(parsed.choices)
            ? parsed.choices.filter(
                (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each),
              )
            : []
          const isSmall = JSON.stringify(parsed.usage ?? null, undefined, indent).length < 1_000
          expect(pass(text, size + 1)).toStrictEqual({
            text,
            usage: isSmall ? parsed.usage : expect.anything(),
            entries: entries.length,
            isComplete: true,
          })
        },
      ),
    )
  })

  it('takes the last usage and the last list, as a parser does', () => {
    const text = '{"choices":[{},{}],"usage":{"a":1},"choices":[{}],"usage":{"a":2}}'
    expect(pass(text)).toMatchObject({ usage: { a: 2 }, entries: 1 })
  })

  it('has no usage where that is longer than any, and holds no more of it', () => {
    expect(pass(`{"usage":{"a":"${'x'.repeat(100_000)}"},"b":1}`)).toMatchObject({ usage: undefined, isComplete: true })
  })

  it('holds no more than a megabyte of white space: what is hidden after it becomes null', () => {
    const space = ' '.repeat(1_200_000)
    const isPassed = (text: string, passed: string) => pass(text, 64 * 1024).text === passed
    expect(isPassed(`{"b":1,${space}"provider":"x"}`, `{"b":1,${space}"provider":null}`)).toBe(true)
    const removedBefore = pass(`{"provider":1,${space}"b":{"provider":1}}`, 64 * 1024).text
    expect(JSON.parse(removedBefore)).toStrictEqual({ b: { provider: 1 } })
  })

  it.each([1_000, 10_000_000])('hides a field of a usage after a long one (pieces of %d bytes)', (size) => {
    const long = 'x'.repeat(1_100_000)
    const { text } = pass(`{"usage":{"a":"${long}","cost":1},"b":1}`, size)
    expect(text === `{"usage":{"a":"${long}"},"b":1}`).toBe(true)
  })

  it('relays what was held in more pieces than a call has arguments', () => {
    const text = `{"a":1,${' '.repeat(300_000)}"b":2,"usage":{${'"cost":1,'.repeat(30_000)}"c":3}}`
    expect(JSON.parse(pass(text, 1).text)).toEqual({ a: 1, b: 2, usage: { c: 3 } })
  })

  it.each(['', '{', '{"a":[', '{"a":"}', '{"a":{}', '[]', '"{}"', '7'])('is not complete: %s', (text) => {
    expect(pass(text).isComplete).toBe(false)
  })

  it('relays what follows the object, which changes nothing', () => {
    const text = '{"usage":1} {"usage":2,"model":"a","choices":[{}]}'
    expect(pass(text)).toStrictEqual({ text, usage: 1, entries: 0, isComplete: true })
  })
})

describe('PassingReply, whatever JSON it is,', () => {
  const hiddenFields = fc
    .subarray([
      'usage.is_byok',
      'usage.usage.cost',
      'provider',
      'id',
      'provider.usage',
      'cost',
      'is_byok.cost.provider',
    ])
    .map((paths) => fieldTree([...paths, 'usage.cost']))

  it('relays every byte but the models, what is hidden, and the cost, wherever the chunks are cut', () => {
    const around = fc.constantFrom('', ' ', '\n', '\ufeff')
    fc.assert(
      fc.property(
        writtenObject,
        hiddenFields,
        fc.array(fc.nat(500)),
        fc.boolean(),
        around,
        (written, hidden, places, isBilled, before) => {
          const passing = new StreamedJsonReply({
            publicModel: 'public "id"',
            hidden,
            list: 'choices',
            costOf: () => (isBilled ? microcredits(5_195) : undefined),
          })
          const bytes = Buffer.from(`${before}${bytesOf(written)}\n`)
          const ends = [...places, bytes.length].toSorted((left, right) => left - right)
          const out = ends.flatMap((end, index) => passing.push(bytes.subarray(ends[index - 1] ?? 0, end)))
          const change = { hidden, modelJson: '"public \\"id\\""', ...(isBilled ? { cost: '0.005195' } : {}) }
          expect(Buffer.concat(out).toString()).toBe(`${before}${bytesOf(written, change)}\n`)
          expect(passing.isComplete).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
