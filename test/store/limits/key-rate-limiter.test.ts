import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { startRelayTable } from '../relay-ledger/relaying-tenant.ts'

/** Thirty a minute: six at once, then one every two seconds. */
const KEY = { keyId: 'Ab3dEf9h', ratePerMinute: 30 }
const BURST = 6

const engine = useOpened(startRelayTable)
let table: TableWithClient
let lean: Table
let now: number
let updates: number
beforeEach(async () => {
  ;({ table, lean } = await engine.fresh())
  now = 1_800_000_000_000
  updates = 0
})

/** One instance, over either client of the table. */
function instance(client: 'lean' | 'sdk' = 'lean'): KeyRateLimiter {
  const through = client === 'lean' ? lean : table
  const counted: Pick<Table, 'updateItem'> = {
    updateItem: (update) => {
      updates += 1
      return through.updateItem(update)
    },
  }
  return new KeyRateLimiter(counted, { nowMilliseconds: () => now })
}

async function takeAll(limiters: readonly KeyRateLimiter[]) {
  const verdicts = await Promise.all(limiters.map((limiter) => limiter.take(KEY)))
  return verdicts.map((verdict) => verdict?.retryAfterSeconds)
}

const passed = (waits: readonly (number | undefined)[]) => waits.filter((wait) => wait === undefined).length

async function exhaust(limiter: KeyRateLimiter): Promise<void> {
  for (let request = 0; request < BURST; request += 1) {
    expect(await limiter.take(KEY)).toMatchObject({ retryAfterSeconds: undefined })
  }
}

describe.each(['lean', 'sdk'] as const)('the limit of a key, through the %s client', (client) => {
  it('lets exactly its burst of fifty requests at once pass, whichever instances they come to', async () => {
    const instances = Array.from({ length: 10 }, () => instance(client))
    const waits = await takeAll(Array.from({ length: 50 }, (_, index) => instances[index % 10] ?? instance(client)))
    expect(passed(waits)).toBe(BURST)
    expect(new Set(waits)).toEqual(new Set([undefined, 2]))
  })

  it('lets one more pass after each interval, and the burst again after a rest', async () => {
    const limiter = instance(client)
    await exhaust(limiter)
    expect(await takeAll([limiter])).toEqual([2])
    now += 1999
    expect(await takeAll([limiter])).toEqual([1])
    now += 1
    expect(passed(await takeAll([limiter, limiter]))).toBe(1)
    now += 12_000
    expect(passed(await takeAll(Array.from({ length: 20 }, () => instance(client))))).toBe(BURST)
  })

  it('says what is left', async () => {
    const limiter = instance(client)
    expect((await limiter.take(KEY))?.state).toEqual({ limit: 30, remaining: 5, resetMilliseconds: 2000 })
    expect((await limiter.take(KEY))?.state).toEqual({ limit: 30, remaining: 4, resetMilliseconds: 4000 })
    expect((await instance(client).take(KEY))?.state).toEqual({ limit: 30, remaining: 3, resetMilliseconds: 6000 })
  })
})

describe('the cost of the limit of a key', () => {
  it('is nothing for a key without one', async () => {
    expect(await instance().take({ keyId: 'Ab3dEf9h', ratePerMinute: undefined })).toBeUndefined()
    expect(updates).toBe(0)
  })

  it('is one update for each request that passes, at rest and in a burst', async () => {
    const limiter = instance()
    await exhaust(limiter)
    expect(updates).toBe(BURST)
    now += 60_000
    await limiter.take(KEY)
    expect(updates).toBe(BURST + 1)
  })

  it('is nothing for a request that its instance knows to be over the limit', async () => {
    const limiter = instance()
    await exhaust(limiter)
    expect(passed(await takeAll(Array.from({ length: 100 }, () => limiter)))).toBe(0)
    expect(updates).toBe(BURST)
  })

  it('is one update for an instance that learns of it from the table, and nothing from then on', async () => {
    await exhaust(instance())
    updates = 0
    const other = instance()
    expect(await takeAll([other])).toEqual([2])
    expect(updates).toBe(1)
    expect(await takeAll([other, other])).toEqual([2, 2])
    expect(updates).toBe(1)
  })

  it('leaves one item that the table collects a day after its last request', async () => {
    await instance().take(KEY)
    const Key = tableKeys.requestRate(KEY.keyId)
    const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }))
    expect(Item).toEqual({ ...Key, tat: now * 1000 + 2_000_000, ttl: now / 1000 + 86_400 })
  })
})

describe('KeyRateLimiter, when the rate of a key was changed after a request was counted,', () => {
  /** Five a minute: one at once, then one every twelve seconds. */
  const slower = { ...KEY, ratePerMinute: 5 }

  it('counts the request by the new rate alone if it lets the request pass', async () => {
    const limiter = instance()
    await limiter.take(KEY)
    expect(await limiter.take(slower, KEY.ratePerMinute)).toEqual({
      state: { limit: 5, remaining: 0, resetMilliseconds: 12_000 },
      retryAfterSeconds: undefined,
    })
    expect(await limiter.take(slower)).toMatchObject({ retryAfterSeconds: 12 })
  })

  it('refuses the request if the new rate would have', async () => {
    const limiter = instance()
    await limiter.take(KEY)
    await limiter.take(KEY)
    expect(await limiter.take(slower, KEY.ratePerMinute)).toMatchObject({ retryAfterSeconds: 4 })
  })
})

describe('KeyRateLimiter, when something is wrong', () => {
  const setTat = (tat: number) =>
    table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.requestRate(KEY.keyId),
        UpdateExpression: 'SET tat = :tat',
        ExpressionAttributeValues: { ':tat': tat },
      }),
    )

  it('with the clock that counted last, the key is not locked out', async () => {
    await setTat((now + 86_400_000) * 1000)
    expect(passed(await takeAll(Array.from({ length: 50 }, () => instance())))).toBe(BURST)
  })

  it('with the table for a moment, the request is counted all the same', async () => {
    let calls = 0
    engine.faults.fate = () => (calls++ < 2 ? 'lost_before' : 'pass')
    expect(await takeAll([instance()])).toEqual([undefined])
  })

  it('with the table for long, lets nothing through: nothing could be served either', async () => {
    engine.faults.fate = () => 'lost_before'
    await expect(instance().take(KEY)).rejects.toBeInstanceOf(ServiceUnavailableError)
  })

  it('with the way back, a request counts twice at worst', async () => {
    let calls = 0
    engine.faults.fate = () => (calls++ === 0 ? 'lost_after' : 'pass')
    const limiter = instance()
    expect((await limiter.take(KEY))?.state.remaining).toBe(BURST - 2)
  })
})
