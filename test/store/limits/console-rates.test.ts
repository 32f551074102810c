import { describe, expect, it } from '@jest/globals'
import { countForHolder, takeMinutePlace, takeSignInPlace } from '#store/limits/console-rates.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/use-test-table.ts'

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

describe('takeMinutePlace', () => {
  const engine = useTestTable()

  const NOW = 1_800_000_000_000
  const take = (name: string, at = NOW) =>
    takeMinutePlace(engine.table, { key: tableKeys.signInFailures(name), max: 10 }, at)

  async function takeMany(name: string, count: number) {
    return await Promise.all(Array.from({ length: count }, () => take(name)))
  }

  it('gives its places in a minute that begins with the first, however many ask at once', async () => {
    const places = await takeMany('10.0.0.1', 30)
    expect(places.filter(({ retryAfterSeconds }) => retryAfterSeconds === undefined)).toHaveLength(10)
    expect(await take('10.0.0.1', NOW + 30_500)).toEqual({ retryAfterSeconds: 30 })
    expect(await take('10.0.0.1', NOW + 60_000)).toHaveProperty('giveBack')
  })

  it('counts each item by itself', async () => {
    await takeMany('10.0.0.2', 10)
    expect(await take('10.0.0.3')).toHaveProperty('giveBack')
  })

  it('frees a place that is given back, in its own minute alone', async () => {
    const [first] = await takeMany('10.0.0.4', 10)
    await first?.giveBack?.()
    const next = await take('10.0.0.4')
    expect(next).toHaveProperty('giveBack')
    expect(await take('10.0.0.4')).toHaveProperty('retryAfterSeconds')
    await takeMany('10.0.0.4', 1)
    expect(await take('10.0.0.4', NOW + 60_000)).toHaveProperty('giveBack')
    await next.giveBack?.()
    for (let count = 0; count < 9; count += 1) {
      expect(await take('10.0.0.4', NOW + 60_000)).toHaveProperty('giveBack')
    }
    expect(await take('10.0.0.4', NOW + 60_000)).toHaveProperty('retryAfterSeconds')
  })
})
