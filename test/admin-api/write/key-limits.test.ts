import { describe, expect, it } from 'vitest'
import { requireFuture, requireKnownModels } from '#lambdas/admin-api/write/key-limits.ts'
import type { Table } from '#store/table/table.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'

const nothing = () => Promise.reject(new Error('not used'))
const table: Table = {
  readItem: nothing,
  readItems: nothing,
  queryPage: nothing,
  updateItem: nothing,
  transact: nothing,
}
const context = {
  table,
  openBucket: nothing,
  nowMilliseconds: () => 5_000,
  openCatalogue: () => testCatalogue(),
  openUrlSigner: async () => () => '',
}

describe('key-limits', () => {
  it('an end is in the future, or there is none', () => {
    expect(() => requireFuture(6, context)).not.toThrow()
    expect(() => requireFuture(null, context)).not.toThrow()
    expect(() => requireFuture(5, context)).toThrow('invalid request')
  })

  it('a key keeps models that the configuration has lost, and gets no other unknown one', () => {
    expect(() => requireKnownModels([PER_SECOND_MODEL], context)).not.toThrow()
    expect(() => requireKnownModels(['gone'], context, ['gone'])).not.toThrow()
    expect(() => requireKnownModels(['gone'], context)).toThrow('invalid request')
    expect(() => requireKnownModels(null, context)).not.toThrow()
  })
})
