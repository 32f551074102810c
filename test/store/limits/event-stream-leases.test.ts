import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { EVENT_STREAMS_MAX, releaseEventStreamLease, takeEventStreamLease } from '#store/limits/event-stream-leases.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { breakConnection } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'

const NOW = 1_000
const UNTIL = 1_800

const engine = useTestTable()
let keyId: string
beforeEach(() => {
  keyId = randomUUID()
})

const take = (leaseId: string = randomUUID(), now = NOW, until = UNTIL) =>
  takeEventStreamLease(engine.table, { keyId, leaseId, until }, now)
const release = (leaseId: string) => releaseEventStreamLease(engine.table, { keyId, leaseId })
const held = async () =>
  Object.keys(((await engine.table.readItem(tableKeys.eventStreams(keyId)))?.leases ?? {}) as object)

describe('the places of the event streams of a key', () => {
  it('are given to exactly as many as there are, though all ask at once', async () => {
    const results = await Promise.all(Array.from({ length: EVENT_STREAMS_MAX + 5 }, () => take()))
    expect(results.filter(Boolean)).toHaveLength(EVENT_STREAMS_MAX)
    expect(await take()).toBe(false)
    expect(await held()).toHaveLength(EVENT_STREAMS_MAX)
  })

  it('can be taken again once given back, and giving back twice changes nothing', async () => {
    const ids = Array.from({ length: EVENT_STREAMS_MAX }, (_, index) => `lease-${index}`)
    for (const id of ids) {
      await take(id)
    }
    await release('lease-3')
    await release('lease-3')
    await release('unknown')
    expect([await take(), await take()]).toEqual([true, false])
  })

  it('of processes that died come back when their leases end', async () => {
    for (let index = 0; index < EVENT_STREAMS_MAX; index += 1) {
      await take(`lost-${index}`)
    }
    expect(await take('late', UNTIL - 1)).toBe(false)
    expect(await take('late', UNTIL, UNTIL + 800)).toBe(true)
    expect(await held()).toEqual(['late'])
  })

  it('are given to two streams that replace dead leases at once', async () => {
    for (let index = 0; index < EVENT_STREAMS_MAX; index += 1) {
      await take(`lost-${index}`)
    }
    const late = ['late-1', 'late-2']
    expect(await Promise.all(late.map((id) => take(id, UNTIL, UNTIL + 800)))).toEqual([true, true])
    expect((await held()).toSorted()).toEqual(late)
  })

  it('are counted once where the response to the write was lost', async () => {
    await take('first')
    breakConnection(engine.table, 'leases.#id')
    expect(await take('second')).toBe(true)
    expect((await held()).toSorted()).toEqual(['first', 'second'])
  })
})
