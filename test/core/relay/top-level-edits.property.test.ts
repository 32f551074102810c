import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fieldTree } from '#core/json/field-tree.ts'
import { microcredits } from '#core/money.ts'
import { readValue, walkReply } from '#core/relay/json-bytes.ts'
import { applyEdits } from '#core/relay/reply-pieces.ts'
import { TopLevelEdits } from '#core/relay/top-level-edits.ts'
import { bytesOf, writtenObject } from './written-json.ts'

const hiddenFields = fc
  .subarray(['usage.is_byok', 'usage.usage.cost', 'provider', 'id', 'provider.usage', 'cost', 'is_byok.cost.provider'])
  .map((paths) => fieldTree([...paths, 'usage.cost']))

it('keeps every byte of embeddings and images but the models, what is hidden, and the cost', () => {
  fc.assert(
    fc.property(writtenObject, hiddenFields, fc.boolean(), (written, hidden, isBilled) => {
      const bytes = Buffer.from(bytesOf(written))
      const topLevel = new TopLevelEdits(bytes, { publicModel: 'public "id"', hidden })
      walkReply(bytes, (name, start) => {
        const { end } = readValue(bytes, start)
        topLevel.field(name, start, end)
        return end
      })
      const { pieces, byteLength } = applyEdits(bytes, topLevel.edits(isBilled ? microcredits(5_195) : undefined))
      const change = { hidden, modelJson: '"public \\"id\\""', ...(isBilled ? { cost: '0.005195' } : {}) }
      const relayed = Buffer.concat(pieces)
      expect(relayed.toString()).toBe(bytesOf(written, change))
      expect(byteLength).toBe(relayed.length)
    }),
    { numRuns: 1_000 },
  )
})
