import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hiddenFields, hiddenInRefusal } from '#core/catalogue/hidden-fields.ts'
import { withoutHidden } from '#core/json/remove-fields.ts'
import { applyTextEdits } from '#core/json/text-edit.ts'
import { readValue, walkReply } from '#core/relay/json-bytes.ts'
import { PassingReply } from '#core/relay/passing-reply.ts'
import { readReplyMembers } from '#core/relay/reply-members.ts'
import { applyEdits } from '#core/relay/reply-pieces.ts'
import { TopLevelEdits } from '#core/relay/top-level-edits.ts'

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

/** What is left of a value: the plain way to say it. `passing` is for replies that are relayed while they arrive. */
function left(value: unknown, place: Place, { passing, depth = 0 }: { passing: boolean; depth?: number }): unknown {
  const deeper = { passing: passing && place === 'anywhere', depth: depth + 1 }
  if (Array.isArray(value)) {
    return value.map((each) => left(each, place, deeper))
  }
  if (typeof value !== 'object' || value === null) {
    return value
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const isNested = typeof inner === 'object' && inner !== null
      if (name === 'provider_metadata' && passing && depth > 0) {
        return [[name, isNested ? null : inner]]
      }
      const isPrice = place === 'usage' && /cost|price/i.test(name)
      const isDetail = place === 'error' && !['message', 'type', 'param', 'code'].includes(name)
      if (name === 'provider_metadata' || isPrice || isDetail) {
        return []
      }
      const innerPlace = place === 'anywhere' && (name === 'usage' || name === 'error') ? name : place
      return [[name, left(inner, innerPlace, { ...deeper, passing: deeper.passing && innerPlace === 'anywhere' })]]
    }),
  )
}

const hidden = hiddenFields({ hidden_members: [] })
const rules = { publicModel: PUBLIC, hidden }

it('hides prices of usages, metadata, and details of errors at any depth, and leaves everything else', () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      const expected = left(value, 'anywhere', { passing: false })
      const members = readReplyMembers(text, { modelJson: JSON.stringify(PUBLIC), hidden })
      expect(JSON.parse(applyTextEdits(text, members.edits))).toStrictEqual(expected)
      const bytes = Buffer.from(text)
      const topLevel = new TopLevelEdits(bytes, rules)
      walkReply(bytes, (name, start) => {
        const { end } = readValue(bytes, start)
        topLevel.field(name, start, end)
        return end
      })
      expect(JSON.parse(Buffer.concat(applyEdits(bytes, topLevel.edits(undefined)).pieces).toString())).toStrictEqual(
        expected,
      )
    }),
    { numRuns: 2_000 },
  )
})

it('hides the same in a reply that is relayed while it arrives, wherever it is cut; metadata inside of values become null', () => {
  fc.assert(
    fc.property(written, fc.array(fc.nat(400)), ({ value, text }, places) => {
      const passing = new PassingReply({ ...rules, list: 'data' })
      const bytes = Buffer.from(text)
      const ends = [...places, bytes.length].toSorted((one, other) => one - other)
      const out = ends.flatMap((end, index) => passing.push(bytes.subarray(ends[index - 1] ?? 0, end)))
      expect(JSON.parse(Buffer.concat(out).toString())).toStrictEqual(left(value, 'anywhere', { passing: true }))
    }),
    { numRuns: 2_000 },
  )
})

it('leaves of a refusal an error, or the fields of one', () => {
  fc.assert(
    fc.property(written, ({ value, text }) => {
      const { error, ...flat } = left(value, 'anywhere', { passing: false }) as { error?: unknown }
      expect(JSON.parse(withoutHidden(text, hiddenInRefusal(hidden)))).toStrictEqual({
        ...(left(Object.fromEntries(Object.entries(value).filter(([name]) => name in flat)), 'error', {
          passing: false,
        }) as object),
        ...(error === undefined ? {} : { error }),
      })
    }),
    { numRuns: 1_000 },
  )
})
