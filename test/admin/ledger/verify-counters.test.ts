import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkCounters } from '#lambdas/admin/ledger/verify-counters.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { putSettledRow } from '../usage/settle-rows.ts'

const COUNTER = '2026-11-22#k1#create-chat-completion#m'

const engine = useTestTable()
let table: TableWithClient
beforeEach(async () => {
  table = await engine.fresh()
  await putSettledRow(table, 'a', { counted: true })
  await add('requests', 1)
  await add('cost', 3)
})

async function add(name: string, amount: number): Promise<void> {
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: tableKeys.usageCounter('acme', COUNTER),
      UpdateExpression: 'ADD #name :amount',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':amount': amount },
    }),
  )
}

describe('checkCounters', () => {
  it('finds nothing where counters are the sums of marked rows, whatever is not marked', async () => {
    await putSettledRow(table, 'not counted')
    expect(await checkCounters(table, 'acme')).toEqual([])
  })

  it.each([
    ['requests', 1, 'requests by 1'],
    ['images', 2, 'images by 2'],
    ['cost', -1, 'cost by -0.000001'],
  ])('finds a counter with other %s', async (name, amount, words) => {
    await add(name, amount)
    expect(await checkCounters(table, 'acme')).toEqual([
      `the usage counter ${COUNTER} differs from its settlements: ${words}`,
    ])
  })

  it('finds a marked row without a counter', async () => {
    await putSettledRow(table, 'lost', { counted: true, model: 'other' })
    expect(await checkCounters(table, 'acme')).toEqual([
      'the usage counter 2026-11-22#k1#create-chat-completion#other differs from its settlements: requests by -1, cost by -0.000003',
    ])
  })

  it('leaves out a counter that moves while it is read', async () => {
    let pages = 0
    const moving: Table = {
      ...table,
      queryPage: async (query, startKey) => {
        pages += 1
        if (pages === 3) {
          await add('requests', 1)
        }
        return await table.queryPage(query, startKey)
      },
    }
    expect(await checkCounters(moving, 'acme')).toEqual([])
  })
})
