import { describe, expect, it } from 'vitest'
import { countForHolder, takeSignInPlace } from '#adapters/store/console/console-rates.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()

const NOW = 1_800_000_000_000
const count = (action: 'sign-in' | 'playground-key', holder: string, at = NOW) =>
  countForHolder(engine.table, action, { holder, nowMilliseconds: at })

describe('takeSignInPlace', () => {
  it('gives an address ten failures in a minute', async () => {
    const places = await Promise.all(Array.from({ length: 12 }, () => takeSignInPlace(engine.table, '10.0.0.1', NOW)))
    expect(places.filter(({ giveBack }) => giveBack !== undefined)).toHaveLength(10)
  })
})

describe('countForHolder', () => {
  it.each(['sign-in', 'playground-key'] as const)(
    'lets a holder do 20 of %s in a minute, however many at once',
    async (action) => {
      const results = await Promise.allSettled(Array.from({ length: 25 }, () => count(action, 'api_key:k1')))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
      await expect(count(action, 'api_key:k1', NOW + 30_500)).rejects.toMatchObject({
        name: 'HolderRateExceededError',
        statusCode: 429,
        retryAfterSeconds: 30,
      })
      await count(action, 'api_key:k1', NOW + 60_000)
      await count(action, 'api_key:k2')
    },
  )
})
