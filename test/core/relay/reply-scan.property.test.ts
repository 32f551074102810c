import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree } from '#core/json/json-fields.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { microcredits } from '#core/money.ts'
import { applyEdits, editsWithCost, ReplyScan, withoutHidden } from '#core/relay/reply-scan.ts'
import { editEvent, SseEventReader } from '#core/relay/sse-events.ts'
import { bytesOf, writtenObject } from './written-json.ts'

/** Trees of hidden fields, which always have the cost. */
const hiddenFields = fc
  .subarray(['usage.is_byok', 'usage.usage.cost', 'provider', 'id', 'provider.usage', 'cost', 'is_byok.cost.provider'])
  .map((paths) => fieldTree([...paths, 'usage.cost']))

const modelJson = '"public \\"id\\""'

it('ReplyScan changes nothing but the models, what is hidden, and the cost, in whatever JSON, wherever it is cut', () => {
  fc.assert(
    fc.property(
      writtenObject,
      hiddenFields,
      fc.boolean(),
      fc.array(fc.nat(500)),
      (written, hidden, isBilled, places) => {
        const text = bytesOf(written)
        const change = { hidden, modelJson, ...(isBilled ? { cost: '0.005195' } : {}) }
        const scan = new ReplyScan({ modelJson, hidden })
        pushInPieces(scan, text, places)
        const cost = isBilled ? microcredits(5_195) : undefined
        expect(scan.isValid).toBe(true)
        expect(applyEdits(text, editsWithCost(scan.edits, cost))).toBe(bytesOf(written, change))
      },
    ),
    { numRuns: 2_000 },
  )
})

it('ReplyScan leaves JSON that every parser reads, without a value at a hidden path', () => {
  fc.assert(
    fc.property(writtenObject, hiddenFields, (written, hidden) => {
      const left = parseJsonText(withoutHidden(bytesOf(written), hidden))
      const { provider } = Object(left)
      expect(hidden.get('provider') === 'whole' ? provider : undefined).toBeUndefined()
      expect(Object(Object(left).usage).cost).toBeUndefined()
    }),
  )
})

it('ReplyScan changes the same in an event whose data stands on several lines, with any line ends', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
  fc.assert(
    fc.property(writtenObject, hiddenFields, lineEnd, fc.boolean(), (written, hidden, end, isSpaced) => {
      // A carriage return ends a line too, so in data there is none.
      const data = bytesOf(written).replaceAll('\r', '')
      const raw = `${data
        .split('\n')
        .map((line) => `data:${isSpaced ? ' ' : ''}${line}${end}`)
        .join('')}event: x${end}${end}`
      const [event] = new SseEventReader().push(`${raw}: next`)
      if (event?.data === undefined) {
        throw new TypeError('the event has no data')
      }
      const { edits: changes } = new ReplyScan({ modelJson, hidden }).push(event.data)
      const edits = editsWithCost(changes, microcredits(5_195))
      const [edited] = new SseEventReader().push(`${editEvent(event, edits)}: next`)
      const expected = applyEdits(event.data, edits)
      // A line that begins with a space loses it where no space follows the colon.
      expect(unspaced(edited?.data)).toBe(unspaced(expected))
      expect(edited?.raw.endsWith(`event: x${end}${end}`)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

function unspaced(text: string | undefined): string | undefined {
  return text?.replaceAll(/\n /g, '\n')
}

function pushInPieces(scan: ReplyScan, text: string, places: readonly number[]): void {
  const ends = [...places, text.length].toSorted((left, right) => left - right)
  for (const [index, end] of ends.entries()) {
    scan.push(text.slice(ends[index - 1] ?? 0, end))
  }
}

/** Marks and beginnings of everything that JSON has, and that it does not have. */
const MARKS = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  'a',
  '1',
  ' ',
  '\\',
  'u00e1',
  'true',
  'null',
  '-',
  '0',
  '.5',
  'e+1',
  '\n',
]

it('ReplyScan tells JSON from other texts as a parser does, wherever they are cut', () => {
  const marks = fc.string({ unit: fc.constantFrom(...MARKS, '"a":', '\x01', 'é') })
  fc.assert(
    fc.property(marks, fc.array(fc.nat(30)), (inside, places) => {
      const text = `{${inside}}`
      const scan = new ReplyScan({ hidden: fieldTree(['a']) })
      pushInPieces(scan, text, places)
      expect(scan.isValid).toBe(isJson(text))
    }),
    { numRuns: 10_000 },
  )
})

it('ReplyScan tells changed JSON from JSON as a parser does', () => {
  const change = fc.constantFrom('', ...'"{}[]:,a1 \\\x01')
  fc.assert(
    fc.property(fc.json(), fc.nat(), change, (json, place, mark) => {
      const at = place % (json.length + 1)
      const text = `{"k":${json.slice(0, at)}${mark}${json.slice(at)}}`
      expect(new ReplyScan({ hidden: fieldTree(['a']) }).push(text).isValid).toBe(isJson(text))
    }),
    { numRuns: 5_000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
