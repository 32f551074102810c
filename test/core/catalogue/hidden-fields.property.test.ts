import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { hiddenFields, hiddenInRefusal } from '#core/catalogue/hidden-fields.ts'
import { applyEdits, ReplyScan, withoutHidden } from '#core/relay/reply-scan.ts'
import { StreamedJsonReply } from '#core/relay/whole-reply.ts'

const NAMES = [
  'usage',
  'error',
  'cost',
  'estimated_cost',
  'inputPrice',
  'message',
  'code',
  'provider_metadata',
  'ProviderName',
  'usage_metadata',
  'choices',
  'provider',
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

type Place = 'reply' | 'entries' | 'entry' | 'usage' | 'error' | 'anywhere'

const isScalar = (value: unknown) => typeof value !== 'object' || value === null

/** What is left of a value: the plain way to say it. */
function left(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) {
    return value.map((each) => left(each, place === 'entries' ? 'entry' : place))
  }
  return isScalar(value) ? value : leftFields(value as object, (name, inner) => leftField(name, inner, place))
}

function leftFields(value: object, leftOf: (name: string, inner: unknown) => unknown): object {
  const fields = Object.entries(value).map(([name, inner]) => [name, leftOf(name, inner)])
  return Object.fromEntries(fields.filter(([, inner]) => inner !== undefined))
}

/** Undefined for a field that is hidden. */
function leftField(name: string, inner: unknown, place: Place): unknown {
  if (name === 'provider_metadata' || name === 'ProviderName') {
    return undefined
  }
  if (place === 'error') {
    return leftOfError(name, inner)
  }
  if (place === 'usage') {
    return isPrice(name) ? undefined : left(inner, 'usage')
  }
  if (name === 'usage' || name === 'usage_metadata' || name === 'error') {
    return left(inner, name === 'error' ? 'error' : 'usage')
  }
  const isHidden =
    (place === 'entry' && name === 'provider') || (isPrice(name) && (place === 'reply' || place === 'entry'))
  return isHidden ? undefined : left(inner, placeIn(place, name))
}

function placeIn(place: Place, name: string): Place {
  if (place === 'reply') {
    return name === 'choices' || name === 'data' ? 'entries' : 'anywhere'
  }
  return place === 'entry' && name === 'message' ? 'entry' : 'anywhere'
}

const isPrice = (name: string) => /cost|price/i.test(name)

function leftOfError(name: string, inner: unknown): unknown {
  return ['message', 'type', 'param', 'code'].includes(name) ? (isScalar(inner) ? inner : null) : undefined
}

const hidden = hiddenFields({ hidden_members: [] })
const rules = { publicModel: PUBLIC, hidden }

it('hiddenFields hides prices, what names the upstream, and details of errors, and leaves everything else', () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      const { edits } = new ReplyScan({ modelJson: JSON.stringify(PUBLIC), hidden }).push(text)
      expect(JSON.parse(applyEdits(text, edits))).toStrictEqual(left(value, 'reply'))
    }),
    { numRuns: 2_000 },
  )
})

it('hiddenFields hides the same in a reply that is relayed while it arrives, wherever it is cut', () => {
  fc.assert(
    fc.property(written, fc.array(fc.nat(400)), ({ value, text }, places) => {
      const passing = new StreamedJsonReply({ ...rules, list: 'data' })
      const bytes = Buffer.from(text)
      const ends = [...places, bytes.length].toSorted((one, other) => one - other)
      const out = ends.flatMap((end, index) => passing.push(bytes.subarray(ends[index - 1] ?? 0, end)))
      expect(JSON.parse(Buffer.concat(out).toString())).toStrictEqual(left(value, 'reply'))
    }),
    { numRuns: 2_000 },
  )
})

it('hiddenInRefusal leaves of a refusal an error, or the fields of one', () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      const shown = leftFields(value, (name, inner) =>
        name === 'error' ? left(inner, 'error') : leftOfError(name, inner),
      )
      expect(JSON.parse(withoutHidden(text, hiddenInRefusal(hidden)))).toStrictEqual(shown)
    }),
    { numRuns: 1_000 },
  )
})
