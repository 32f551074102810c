import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fieldTree } from '#core/json/field-tree.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { withoutHidden } from '#core/json/remove-fields.ts'
import { applyTextEdits } from '#core/json/text-edit.ts'
import { microcredits } from '#core/money.ts'
import { editEvent } from '#core/relay/edit-event.ts'
import { readReplyMembers, replyEdits } from '#core/relay/reply-members.ts'
import { SseEventReader } from '#core/relay/sse-events.ts'
import { bytesOf, writtenObject } from './written-json.ts'

/** Trees of hidden fields, which always have the cost. */
const hiddenFields = fc
  .subarray(['usage.is_byok', 'usage.usage.cost', 'provider', 'id', 'provider.usage', 'cost', 'is_byok.cost.provider'])
  .map((paths) => fieldTree([...paths, 'usage.cost']))

const modelJson = '"public \\"id\\""'

it('changes nothing but the models, what is hidden, and the cost, in whatever JSON', () => {
  fc.assert(
    fc.property(writtenObject, hiddenFields, fc.boolean(), (written, hidden, isBilled) => {
      const text = bytesOf(written)
      const change = { hidden, modelJson, ...(isBilled ? { cost: '0.005195' } : {}) }
      const members = readReplyMembers(text, { modelJson, hidden })
      const cost = isBilled ? microcredits(5_195) : undefined
      expect(applyTextEdits(text, replyEdits(members, cost))).toBe(bytesOf(written, change))
    }),
    { numRuns: 2_000 },
  )
})

it('leaves JSON that every parser reads, without a value at a hidden path', () => {
  fc.assert(
    fc.property(writtenObject, hiddenFields, (written, hidden) => {
      const left = parseJsonText(withoutHidden(bytesOf(written), hidden))
      const { provider } = Object(left)
      expect(hidden.get('provider') === 'whole' ? provider : undefined).toBeUndefined()
      expect(Object(Object(left).usage).cost).toBeUndefined()
    }),
  )
})

it('changes the same in an event whose data stands on several lines, with any line ends', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
  fc.assert(
    fc.property(writtenObject, hiddenFields, lineEnd, fc.boolean(), (written, hidden, end, isSpaced) => {
      // A carriage return ends a line too, so in data there is none.
      const data = bytesOf(written).replaceAll('\r', '')
      const raw = `${data
        .split('\n')
        .map((line) => `data:${isSpaced ? ' ' : ''}${line}${end}`)
        .join('')}id: 1${end}${end}`
      const [event] = new SseEventReader().push(`${raw}: next`)
      if (event?.data === undefined) {
        throw new TypeError('the event has no data')
      }
      const members = readReplyMembers(event.data, { modelJson, hidden })
      const edits = replyEdits(members, microcredits(5_195))
      const [edited] = new SseEventReader().push(`${editEvent(event, edits)}: next`)
      const expected = applyTextEdits(event.data, edits)
      // A line that begins with a space loses it where no space follows the colon.
      expect(unspaced(edited?.data)).toBe(unspaced(expected))
      expect(edited?.raw.endsWith(`id: 1${end}${end}`)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

function unspaced(text: string | undefined): string | undefined {
  return text?.replaceAll(/\n /g, '\n')
}
