import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { microcredits, parseCredits } from '#core/money/money.ts'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { embeddingChargeMax, embeddingCost, settleEmbeddingCost } from '#core/quota/embedding-cost.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

const perToken = (price: string) => ({ id: 'm', prices: [{ input: price }] })
const PER_REQUEST = { id: 'm', prices: [{ price: '0.5' }] }

describe('the cost of embeddings', () => {
  it.each([
    ['0.02', 1_000_000, 20_000n],
    ['0.02', 1, 1n],
    ['0.02', 24, 1n],
    ['0.02', 25, 1n],
    ['0.02', 26, 1n],
    ['0.02', 75, 2n],
    ['0.13', 8192, 1065n],
    ['0.10', 1, 1n],
    ['0.10', 5, 1n],
    ['0', 1_000_000_000, 0n],
    ['1000000000', 1_000_000_000, 1_000_000_000_000_000_000n],
  ])(
    'at %s per million for %d tokens is %d microcredits, rounded half up once, a millionth at least',
    (price, tokens, amount) => {
      expect(embeddingCost(perToken(price), tokens)).toBe(amount)
    },
  )

  it('of a request is its price, whatever its tokens', () => {
    expect(embeddingCost(PER_REQUEST, 0)).toBe(500_000n)
    expect(embeddingCost(PER_REQUEST, 1_000_000)).toBe(500_000n)
  })

  it.each(['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'])('of %s is priced', (id) => {
    const model = shippedCatalogue.findRelayModel(id, { kind: 'embedding', allowed: null })
    expect(model && embeddingCost(model, 1_000_000)).toBeGreaterThan(0n)
  })
})

describe('what is locked', () => {
  const bounds = fc.array(fc.integer({ min: 1, max: 8192 }), { minLength: 1, maxLength: 2048 })
  const prices = fc.bigInt({ min: 0n, max: 1_000_000_000n }).map(microcredits)

  it('covers whatever usage is within the bounds', () => {
    fc.assert(
      fc.property(bounds, prices, fc.double({ min: 0, max: 1, noNaN: true }), (tokens, price, share) => {
        const sum = tokens.reduce((total, each) => total + each, 0)
        const model = {
          id: 'm',
          prices: [{ input: `0.${(price % 1_000_000n).toString().padStart(6, '0')}` }],
        }
        expect(embeddingChargeMax(model, tokens).amount).toBeGreaterThanOrEqual(
          embeddingCost(model, Math.floor(sum * share)),
        )
      }),
    )
  })

  it('is rounded once for all inputs together', () => {
    expect(embeddingChargeMax(perToken('0.02'), [20, 20, 20]).amount).toBe(1n)
  })

  it('of a request is its price', () => {
    expect(embeddingChargeMax(PER_REQUEST, [1, 2, 3]).amount).toBe(500_000n)
  })
})

describe('what is billed', () => {
  const estimate = { amount: parseCredits('0.9'), usage: countedUsage({ inputTokens: 45_000_000 }) }
  const billed = (amount: bigint, inputTokens: number) => ({
    charge: { amount, usage: countedUsage({ inputTokens }) },
    billedAtEstimate: false,
  })

  it('is the usage', () => {
    const settlement = settleEmbeddingCost(perToken('0.02'), { estimate, promptTokens: 100 })
    expect(settlement).toStrictEqual(billed(2n, 100))
  })

  it('is never nothing where there is a price, however little was embedded', () => {
    const settlement = settleEmbeddingCost(perToken('0.02'), { estimate, promptTokens: 1 })
    expect(settlement).toStrictEqual(billed(1n, 1))
  })

  it('is what was locked when there is no usage, and says so', () => {
    const settlement = settleEmbeddingCost(perToken('0.02'), { estimate, promptTokens: undefined })
    expect(settlement).toStrictEqual({ charge: estimate, billedAtEstimate: true })
  })

  it.each([undefined, 100])('of a request is its price with usage %p', (promptTokens) => {
    const settlement = settleEmbeddingCost(PER_REQUEST, { estimate, promptTokens })
    expect(settlement).toStrictEqual(billed(500_000n, promptTokens ?? 0))
  })
})
