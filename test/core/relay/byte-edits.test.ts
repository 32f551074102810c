import { describe, expect, it } from 'vitest'
import { fieldTree } from '#core/json/field-tree.ts'
import { byteEdit, byteRemovalEdits } from '#core/relay/byte-edits.ts'
import { applyEdits } from '#core/relay/reply-pieces.ts'

const hidden = fieldTree(['cost'])

describe('byteRemovalEdits', () => {
  it('counts its places from the first byte, whatever characters are before', () => {
    const bytes = Buffer.from('ü"世" {"ü":"世","cost":1,"b":2} "cost"')
    const span = { start: bytes.indexOf('{'), end: bytes.indexOf('}') + 1 }
    const { edits, additionPlace } = byteRemovalEdits(bytes, span, hidden)
    const { pieces } = applyEdits(bytes, edits.map(byteEdit))
    expect(Buffer.concat(pieces).toString()).toBe('ü"世" {"ü":"世","b":2} "cost"')
    expect(additionPlace).toStrictEqual({ index: bytes.indexOf('}'), isAfterField: true })
  })

  it('leaves bytes that are no characters', () => {
    const bytes = Buffer.from([...Buffer.from('{"a":"'), 0xff, 0x80, ...Buffer.from('","cost":1}')])
    const { edits } = byteRemovalEdits(bytes, { start: 0, end: bytes.length }, hidden)
    const { pieces } = applyEdits(bytes, edits.map(byteEdit))
    expect(Buffer.concat(pieces)).toStrictEqual(
      Buffer.from([...Buffer.from('{"a":"'), 0xff, 0x80, ...Buffer.from('"}')]),
    )
  })
})
