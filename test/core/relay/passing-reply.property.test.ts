import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fieldTree } from '#core/json/json-fields.ts'
import { microcredits } from '#core/money.ts'
import { PassingReply } from '#core/relay/passing-reply.ts'
import { bytesOf, writtenObject } from './written-json.ts'

const hiddenFields = fc
  .subarray(['usage.is_byok', 'usage.usage.cost', 'provider', 'id', 'provider.usage', 'cost', 'is_byok.cost.provider'])
  .map((paths) => fieldTree([...paths, 'usage.cost']))

it('passes every byte but the models, what is hidden, and the cost, wherever the chunks are cut', () => {
  const around = fc.constantFrom('', ' ', '\n', '\ufeff')
  fc.assert(
    fc.property(
      writtenObject,
      hiddenFields,
      fc.array(fc.nat(500)),
      fc.boolean(),
      around,
      (written, hidden, places, isBilled, before) => {
        const passing = new PassingReply({
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
