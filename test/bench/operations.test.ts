import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Cost } from '../engines/cost-meter.ts'
import { type MeteredService, startMeteredService } from '../engines/metered-service.ts'
import { measureOperationCosts, type OperationCosts } from '../engines/operation-costs.ts'
import { DELETE_UNITS, OPERATION_UNITS, WATCH_UNITS } from '../engines/operation-units.ts'

let service: MeteredService
let costs: OperationCosts

beforeAll(async () => {
  service = await startMeteredService()
  costs = await measureOperationCosts(service)
})

afterAll(async () => {
  await service?.close()
})

/** In one line: requests by kind, then read units and write units. */
function told({ requests, readUnits, writeUnits }: Cost): string {
  const kinds = Object.entries(requests).map(([name, count]) => `${count} ${name}`)
  return [...kinds, `${readUnits} R`, `${writeUnits} W`].join(', ')
}

/** The same figures as in docs/operate.md, "Costs per operation": change both. */
describe('operations: one operation', () => {
  it.each([
    ['create, malformed key: 401', '0 R, 0 W'],
    ['create, unknown key: 401', '1 GetItem, 1 R, 0 W'],
    ['create, invalid request: 400', '1 GetItem, 1 R, 0 W'],
    ['create, too little quota: 402', '1 GetItem, 1 TransactWriteItems, 1 R, 10 W'],
    ['create, key with a rate, invalid request: 400', '1 GetItem, 1 UpdateItem, 1 R, 1 W'],
    ['create, key above its rate: 429', '1 GetItem, 1 R, 0 W'],
    ['create, too many open jobs: 429', '1 GetItem, 1 TransactWriteItems, 1 R, 10 W'],
    ['create', '2 GetItem, 1 StartExecution, 1 TransactWriteItems, 2 R, 11 W'],
    ['create with an idempotency key', '2 GetItem, 1 StartExecution, 1 TransactWriteItems, 2 R, 13 W'],
    ['create, repeated idempotency key', '3 GetItem, 1 TransactWriteItems, 3 R, 12 W'],
    ['get, key not seen before', '2 GetItem, 2 R, 0 W'],
    ['get', '1 BatchGetItem, 2 R, 0 W'],
    ['list, 20 of 20', '1 GetItem, 1 Query, 8 R, 0 W'],
    ['list, 100 of 1000', '1 GetItem, 1 Query, 32 R, 0 W'],
    ['delete, running', '1 GetItem, 1 StartExecution, 1 UpdateItem, 1 R, 2 W'],
    ['delete, succeeded', '1 DeleteObject, 1 GetItem, 2 UpdateItem, 1 R, 6 W'],
    ['submit', '3 GetItem, 1 TransactWriteItems, 1 UpdateItem, 2.5 R, 5 W'],
    ['poll, unchanged', '2 GetItem, 1 UpdateItem, 1.5 R, 1 W'],
    ['poll, changed', '2 GetItem, 2 UpdateItem, 1.5 R, 2 W'],
    ['poll, succeeded', '1 GetItem, 3 UpdateItem, 1 R, 4 W'],
    ['poll, failed', '1 GetItem, 2 UpdateItem, 1 R, 2 W'],
    ['store', '1 GetItem, 1 PutObject, 1 UpdateItem, 1 R, 2 W'],
    ['settle', '3 GetItem, 1 TransactWriteItems, 3 R, 15 W'],
    ['fail', '3 GetItem, 1 TransactWriteItems, 1 UpdateItem, 3 R, 12 W'],
    ['notify', '2 GetItem, 2 UpdateItem, 1.5 R, 4 W'],
    ['notify, sent before', '1 GetItem, 1 R, 0 W'],
    ['reconcile, nothing due', '20 Query, 10 R, 0 W'],
    ['reconcile, nothing due, with the recount', '1 GetItem, 37 Query, 19.5 R, 0 W'],
    ['reconcile, one job due', '1 DescribeExecution, 2 GetItem, 20 Query, 1 UpdateItem, 12 R, 3 W'],
    [
      'create, budgets of key and tenant, first in an instance',
      '2 GetItem, 1 StartExecution, 2 TransactWriteItems, 2 R, 25 W',
    ],
    ['create, budgets of key and tenant', '2 GetItem, 1 StartExecution, 1 TransactWriteItems, 2 R, 13 W'],
    ['settle, budgets of key and tenant', '3 GetItem, 1 TransactWriteItems, 3 R, 17 W'],
    ['usage', '1 GetItem, 1 Query, 2 R, 0 W'],
    ['balance', '1 BatchGetItem, 1 GetItem, 4 R, 0 W'],
    ['receipt', '1 BatchGetItem, 1 GetItem, 3 R, 0 W'],
    ['quote', '1 BatchGetItem, 1 GetItem, 4 R, 0 W'],
    ['alerts, two budgets below their thresholds', '1 BatchGetItem, 2 Query, 3 R, 0 W'],
    [
      'alerts, two budgets cross a threshold',
      '1 BatchGetItem, 6 GetItem, 2 Query, 2 TransactWriteItems, 4 UpdateItem, 9 R, 24 W',
    ],
    ['alerts, two budgets that stay above it', '1 BatchGetItem, 4 GetItem, 2 Query, 7 R, 0 W'],
    ['a switch is set', '1 GetItem, 1 TransactWriteItems, 1 R, 4 W'],
    ['the switches are read', '1 GetItem, 1 R, 0 W'],
    ['admin usage', '1 GetItem, 1 Query, 2 R, 0 W'],
    ['admin audit', '1 Query, 1 R, 0 W'],
  ])('%s: requests and units (%s)', (operation, expected) => {
    const cost = costs.operations[operation]
    expect(cost === undefined ? undefined : told(cost)).toBe(expected)
  })

  it.each(Object.entries(OPERATION_UNITS))(
    '%s: the units that the capacity model assumes',
    (operation, { reads, writes }) => {
      expect(costs.operations[operation]).toMatchObject({ readUnits: reads, writeUnits: writes })
    },
  )

  it('delete, succeeded: the units that the cost model assumes', () => {
    const { reads, writes } = DELETE_UNITS
    expect(costs.operations['delete, succeeded']).toMatchObject({ readUnits: reads, writeUnits: writes })
  })

  it('alerts: a look at one budget, beside the two index queries, as the capacity model assumes', () => {
    const { readUnits } = costs.operations['alerts, two budgets below their thresholds'] ?? {}
    expect(readUnits).toBe(2 * WATCH_UNITS.reads + 2 * 0.5)
  })

  it('is measured only with its expected cost in this file', () => {
    expect(Object.keys(costs.operations)).toHaveLength(43)
  })
})

describe('operations: one whole job with a callback, eight polls and twelve requests of its client', () => {
  it('enters three states per poll and six others', () => {
    expect(costs.wholeJob).toMatchObject({ polls: 8, gets: 12, statesEntered: 30 })
  })

  it('costs the sum of its operations', () => {
    expect(told(costs.wholeJob.cost)).toBe(
      '12 BatchGetItem, 26 GetItem, 1 PutObject, 1 StartExecution, 3 TransactWriteItems, 16 UpdateItem, 45.5 R, 50 W',
    )
  })
})
