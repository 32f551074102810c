import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { v7 as uuidv7 } from 'uuid'
import { dueSortKey, isSortKey, OPEN_SHARDS, openShard, tableKeys } from '#store/table/table-keys.ts'

describe('tableKeys', () => {
  it('no two kinds of item share a key, even where their ids are the same', () => {
    const keys = Object.values(tableKeys).map((keyOf: (...ids: [string, string]) => object) => keyOf('id', 'id'))
    const shared = keys.filter(
      (key, index) => keys.findIndex((each) => JSON.stringify(each) === JSON.stringify(key)) < index,
    )
    expect(shared).toEqual([])
  })
})

describe('openShard', () => {
  it('uses every shard for the ids of jobs', () => {
    const shards = new Set(Array.from({ length: 2_000 }, () => openShard(uuidv7())))
    expect([...shards].toSorted()).toEqual(
      Array.from({ length: OPEN_SHARDS }, (_, shard) => `OPEN#${shard}`).toSorted(),
    )
  })

  it.each(['', 'x', 'request-zz', '-1'])('has a shard that readers query for the id %j', (id) => {
    expect(openShard(id)).toMatch(/^OPEN#([0-9]|1[0-5])$/)
  })
})

describe('dueSortKey', () => {
  it('sorts as its times do, over the whole range of times', () => {
    const time = fc.integer({ min: 0, max: 999_999_999_999_999 })
    fc.assert(fc.property(time, time, (one, other) => dueSortKey(one) < dueSortKey(other) === one < other))
  })

  it('leaves a fraction of a millisecond out', () => {
    expect(dueSortKey(1.9)).toBe(dueSortKey(1))
  })
})

describe('isSortKey', () => {
  it.each([
    ['x', true],
    ['x'.repeat(1024), true],
    ['x'.repeat(1025), false],
    ['ä'.repeat(513), false],
    ['', false],
  ])('tells what DynamoDB accepts: %#', (text, expected) => {
    expect(isSortKey(text)).toBe(expected)
  })
})
