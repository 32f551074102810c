import fc from 'fast-check'
import type { FieldTree } from '#core/json/json-fields.ts'

/** A JSON value with its own bytes: white space, escapes and repeated names included. */
export type Written = { readonly kind: 'text'; readonly text: string } | WrittenObject

export type WrittenObject = { readonly kind: 'object'; readonly fields: readonly WrittenField[]; readonly end: string }

type WrittenField = {
  /** White space before the comma of the field. */
  readonly before: string
  /** White space after that comma, or after the brace. */
  readonly after: string
  readonly name: string
  /** The name as JSON, perhaps with escapes. */
  readonly nameJson: string
  readonly colon: string
  readonly value: Written
}

const NAMES = ['usage', 'cost', 'provider', 'model', 'is_byok', 'cost_details', 'choices', 'id', 'ü"{', '']

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', ' \r\n ')

/** A name with one of its characters escaped, or none. */
const name = fc
  .constantFrom(...NAMES)
  .chain((text) =>
    fc.integer({ min: -1, max: text.length - 1 }).map((index) => ({ name: text, nameJson: escapedAt(text, index) })),
  )

function escapedAt(text: string, index: number): string {
  const characters = [...text].map((character, place) =>
    place === index
      ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : JSON.stringify(character).slice(1, -1),
  )
  return `"${characters.join('')}"`
}

const plain = fc
  .oneof(
    fc.constantFrom(
      'null',
      'true',
      '-1.50e3',
      '9007199254740993',
      '1e400',
      '-123456789012345678901234567890.10',
      '['.repeat(300) + ']'.repeat(300),
      '"}"',
      '"a\\",{"',
      '"\\\\"',
      '"provider":1'.slice(11),
    ),
    fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('[{"cost":1,"provider":"x"}]', '[ ]', '[[{"usage":{"cost":1}}]]'),
  )
  .filter((text) => !text.startsWith('{'))
  .map((text): Written => ({ kind: 'text', text }))

const { object } = fc.letrec<{ value: Written; object: WrittenObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, plain, tie('object')),
  object: fc
    .tuple(
      fc.array(
        fc.tuple(name, space, space, space, space, tie('value')).map(([names, before, after, left, right, inner]) => ({
          ...names,
          before,
          after,
          colon: `${left}:${right}`,
          value: inner,
        })),
        { maxLength: 6 },
      ),
      space,
    )
    .map(([fields, end]): WrittenObject => ({ kind: 'object', fields, end })),
}))

/** Any object that an upstream may write. */
export const writtenObject: fc.Arbitrary<WrittenObject> = object

type Change = {
  readonly hidden?: FieldTree
  /** Replaces each top-level `model`. */
  readonly modelJson?: string
  /** Added to each top-level `usage` that is an object. */
  readonly cost?: string
}

/**
 * The bytes of a value after the changes that the gateway makes: the plain way to say it. A field goes with the comma and the
 * white space before it.
 */
export function bytesOf(written: Written, change: Change = {}): string {
  return written.kind === 'text' ? written.text : objectBytes(written, change, true)
}

function objectBytes(
  { fields, end }: WrittenObject,
  { hidden, modelJson, cost }: Change,
  isTop: boolean,
  own = '',
): string {
  const kept = fields.filter(({ name: each }) => hidden?.get(each) !== 'whole')
  const texts = kept.map(({ before, after, name: each, nameJson, colon, value: inner }, index) => {
    const tree = hidden?.get(each)
    const addition = isTop && each === 'usage' && cost !== undefined ? `"cost":${cost}` : ''
    const written =
      isTop && each === 'model' && modelJson !== undefined
        ? modelJson
        : tree === 'unless scalar' && (inner.kind === 'object' || inner.text.startsWith('['))
          ? 'null'
          : inner.kind === 'text'
            ? inner.text
            : objectBytes(inner, typeof tree === 'object' ? { hidden: tree } : {}, false, addition)
    return `${index === 0 ? '' : `${before},`}${after}${nameJson}${colon}${written}`
  })
  const last = own === '' ? '' : `${kept.length === 0 ? '' : ','}${own}`
  return `{${texts.join('')}${last}${end}}`
}
