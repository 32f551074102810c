import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { hiddenFields, hiddenInRefusal } from '#core/catalogue/hidden-fields.ts'
import { PassingReply } from '#core/relay/passing-reply.ts'
import { applyEdits, ReplyScan, withoutHidden } from '#core/relay/reply-scan.ts'

const NAMES = [
  'usage',
  'error',
  'cost',
  'estimated_cost',
  'inputPrice',
  'message',
  'code',
  'provider_metadata',
  'a',
  'data',
]
const PUBLIC = 'public'

const { object } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0.25, '0.5', '', 'a "usage": {"cost": 1}'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 5, noNullPrototype: true }),
}))

/** The object as JSON, the first letters of its names escaped or not. */
const written = fc.tuple(object, fc.boolean()).map(([value, isEscaped]) => ({
  value,
  text: isEscaped
    ? JSON.stringify(value).replaceAll(/"([a-z])(\w*)":/g, (_, first: string, rest: string) => {
        return `"\\u00${first.charCodeAt(0).toString(16)}${rest}":`
      })
    : JSON.stringify(value),
}))

type Place = 'anywhere' | 'usage' | 'error'

/** What is left of a value: the plain way to say it. */
function left(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) {
    return value.map((each) => left(each, place))
  }
  if (typeof value !== 'object' || value === null) {
    return value
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const isPrice = place === 'usage' && /cost|price/i.test(name)
      const isDetail = place === 'error' && !['message', 'type', 'param', 'code'].includes(name)
      if (name === 'provider_metadata' || isPrice || isDetail) {
        return []
      }
      return [[name, left(inner, place === 'anywhere' && (name === 'usage' || name === 'error') ? name : place)]]
    }),
  )
}

const hidden = hiddenFields({ hidden_members: [] })
const rules = { publicModel: PUBLIC, hidden }

it('hides prices of usages, metadata, and details of errors at any depth, and leaves everything else', () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      const { edits } = new ReplyScan({ modelJson: JSON.stringify(PUBLIC), hidden }).push(text)
      expect(JSON.parse(applyEdits(text, edits))).toStrictEqual(left(value, 'anywhere'))
    }),
    { numRuns: 2_000 },
  )
})

it('hides the same in a reply that is relayed while it arrives, wherever it is cut', () => {
  fc.assert(
    fc.property(written, fc.array(fc.nat(400)), ({ value, text }, places) => {
      const passing = new PassingReply({ ...rules, list: 'data' })
      const bytes = Buffer.from(text)
      const ends = [...places, bytes.length].toSorted((one, other) => one - other)
      const out = ends.flatMap((end, index) => passing.push(bytes.subarray(ends[index - 1] ?? 0, end)))
      expect(JSON.parse(Buffer.concat(out).toString())).toStrictEqual(left(value, 'anywhere'))
    }),
    { numRuns: 2_000 },
  )
})

it('leaves of a refusal an error, or the fields of one', () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      const { error, ...flat } = left(value, 'anywhere') as { error?: unknown }
      expect(JSON.parse(withoutHidden(text, hiddenInRefusal(hidden)))).toStrictEqual({
        ...(left(Object.fromEntries(Object.entries(value).filter(([name]) => name in flat)), 'error') as object),
        ...(error === undefined ? {} : { error }),
      })
    }),
    { numRuns: 1_000 },
  )
})
