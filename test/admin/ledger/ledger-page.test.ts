import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { timeOrderedId } from '#core/ids.ts'
import { type LedgerWish, readLedgerPage, readLedgerRowsOf } from '#lambdas/admin/ledger/ledger-page.ts'
import type { LedgerPosition } from '#lambdas/admin/ledger/placed-row.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

const NOW = 1_795_000_000_000
const tenants = () => `ledger-${crypto.randomUUID()}`

async function put(Item: Readonly<Record<string, unknown>>): Promise<void> {
  await table.client.send(new PutCommand({ TableName: table.name, Item }))
}

/** A relayed request that began this long ago. */
async function request(tenant: string, secondsAgo: number, id: string = crypto.randomUUID()): Promise<string> {
  const at = NOW - secondsAgo * 1000
  const job = timeOrderedId(id, at)
  const row = { kind: 'settle', job, amount: 5, actual: 3, reservedAt: at, at: at + 900_000 }
  await put({ ...tableKeys.ledgerResolution(tenant, job), ...row })
  return job
}

async function grant(tenant: string, secondsAgo: number, id: string): Promise<void> {
  await put({ ...tableKeys.ledgerGrant(tenant, id), kind: 'grant', amount: 100, at: NOW - secondsAgo * 1000 })
}

/** Seconds ago of all rows, page by page. */
async function pages(tenant: string, wish: LedgerWish): Promise<number[][]> {
  const read: number[][] = []
  let after: LedgerPosition | undefined
  do {
    const page = await readLedgerPage(table, tenant, { ...wish, after }, NOW)
    read.push(page.rows.map(({ beganAt }) => (NOW - beganAt) / 1000))
    after = page.next
  } while (after !== undefined && read.length < 30)
  return read
}

describe('readLedgerPage', () => {
  it('merges requests and grants by the time at which they began, each once, over pages of any size', async () => {
    const tenant = tenants()
    for (const ago of [7, 1, 3, 9, 5]) {
      await request(tenant, ago)
    }
    for (const [ago, id] of [
      [6, 'march'],
      [2, 'april'],
      [10, 'first'],
      [5, 'same'],
    ] as const) {
      await grant(tenant, ago, id)
    }
    for (const limit of [1, 2, 3, 4, 20]) {
      expect((await pages(tenant, { limit })).flat()).toEqual([1, 2, 3, 5, 5, 6, 7, 9, 10])
    }
  })

  it('reads a range of time and one kind', async () => {
    const tenant = tenants()
    for (const ago of [1, 4, 8]) {
      await request(tenant, ago)
    }
    await grant(tenant, 5, 'g')
    const range = { from: NOW - 5_000, before: NOW - 1_000 }
    expect((await pages(tenant, { limit: 9, ...range })).flat()).toEqual([4, 5])
    expect((await pages(tenant, { limit: 9, kind: 'grant' })).flat()).toEqual([5])
    expect((await pages(tenant, { limit: 1, kind: 'settle' })).flat()).toEqual([1, 4, 8])
    expect((await pages(tenant, { limit: 9, kind: 'release' })).flat()).toEqual([])
  })

  it('needs two queries, however many rows there are', async () => {
    const tenant = tenants()
    await Promise.all(Array.from({ length: 30 }, (_, ago) => request(tenant, ago)))
    let queries = 0
    const counted: Pick<TableWithClient, 'queryPage'> = {
      queryPage: async (...parameters) => {
        queries += 1
        return await table.queryPage(...parameters)
      },
    }
    await readLedgerPage(counted, tenant, { limit: 10 }, NOW)
    expect(queries).toBe(2)
  })
})

describe('readLedgerRowsOf', () => {
  it('finds a request and a grant by their ids, and nothing of another tenant', async () => {
    const tenant = tenants()
    const id = await request(tenant, 1)
    await grant(tenant, 2, 'march')
    expect((await readLedgerRowsOf(table, tenant, id)).map(({ row }) => row.job)).toEqual([id])
    expect((await readLedgerRowsOf(table, tenant, 'march')).map(({ row }) => row.kind)).toEqual(['grant'])
    expect(await readLedgerRowsOf(table, tenants(), id)).toEqual([])
  })
})
