import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { timeOrderedId } from '#core/ids.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { type LedgerPosition, type LedgerWish, readLedgerPage, readLedgerRowsOf } from '#lambdas/admin/ledger-page.ts'
import { detailsOfReservation, NO_DETAILS, readDetails, readLedgerRows } from '#lambdas/admin/read-ledger.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { showLedger } from '../../lib/cli/admin/ledger.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { reserveJob } from '../engines/video-jobs.ts'
import {
  openRelayingTenant,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from '../store/relay-ledger/relaying-tenant.ts'

describe('the ledger of a tenant', () => {
  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  let tenant: RelayingTenant
  let now: number
  let ledger: RelayLedger
  beforeEach(async () => {
    const { table: fresh, lean } = await engine.fresh()
    table = fresh
    tenant = await openRelayingTenant(table, '100')
    now = Date.now() + 1_000
    const clock = { nowMilliseconds: () => now, pause: async () => undefined }
    ledger = new RelayLedger(lean, { clock })
  })

  const NOTHING = {
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    video_seconds: 0,
    images: 0,
  }

  async function put(Item: Record<string, unknown>): Promise<void> {
    await table.client.send(new PutCommand({ TableName: table.name, Item }))
  }

  const iso = (milliseconds: number) => new Date(milliseconds).toISOString()

  async function entries(limit?: number) {
    const { json } = await showLedger(table, { tenant: tenant.tenantId, limit })
    return Object(json).entries
  }

  /** Reserves now, resolves two seconds later, and a second after that is over. */
  async function relay(credits: string, resolution: Parameters<RelayLedger['resolve']>[1] | undefined) {
    const request = tenant.request(credits, { reservedAt: now })
    await ledger.reserve(request)
    now += 2_000
    if (resolution !== undefined) {
      await ledger.resolve(request, resolution)
    }
    now += 1_000
    return request
  }

  it('shows both entries of a request, newest first, beside those of jobs and grants', async () => {
    const start = now
    const settled = await relay('3', settle('1.25'))
    const released = await relay('2', RELEASE)
    const estimated = await relay('1', settle('1', true))
    const job = await reserveJob(table, tenant, { createdAt: Math.trunc(now / 1000) + 10 })
    const none = { actual: null }
    expect(await entries()).toMatchObject([
      { kind: 'reserve', job: job.jobId, amount: '0.7', ...none, at: expect.any(String) },
      { kind: 'settle', job: estimated.requestId, amount: '1', actual: '1', at: iso(start + 8_000), estimated: true },
      { kind: 'reserve', job: estimated.requestId, amount: '1', ...none, at: iso(start + 6_000) },
      { kind: 'release', job: released.requestId, amount: '2', ...none, at: iso(start + 5_000) },
      { kind: 'reserve', job: released.requestId, amount: '2', ...none, at: iso(start + 3_000) },
      { kind: 'settle', job: settled.requestId, amount: '3', actual: '1.25', at: iso(start + 2_000) },
      { kind: 'reserve', job: settled.requestId, amount: '3', ...none, at: iso(start) },
      { kind: 'grant', job: null, amount: '100', ...none, at: expect.any(String), id: 'first' },
    ])
  })

  it('shows a request that is open once, and of all entries the newest when told how many', async () => {
    await relay('3', RELEASE)
    const open = await relay('2', undefined)
    const expected = [{ kind: 'reserve', job: open.requestId, amount: '2', actual: null, at: iso(open.reservedAt) }]
    expect(await entries(1)).toMatchObject(expected)
    expect((await entries()).filter(({ job }: { job: string }) => job === open.requestId)).toMatchObject(expected)
  })

  it('shows a request that is resolved in the moment of reading with both entries, each once', async () => {
    const open = await relay('2', undefined)
    const [rows] = await Promise.all([readLedgerRows(table, tenant.tenantId), ledger.resolve(open, settle('1'))])
    const kinds = rows.filter(({ job }) => job === open.requestId).map(({ kind }) => kind)
    expect([['reserve'], ['settle', 'reserve']]).toContainEqual(kinds)
  })

  it('tells people which bills are estimates', async () => {
    await relay('1', settle('1', true))
    await relay('1', settle('0.5'))
    const { text } = await showLedger(table, { tenant: tenant.tenantId, limit: undefined })
    expect(text).toMatch(/settle +1 +1 \(estimate\)/)
    expect(text).toMatch(/settle +1 +0\.5 +/)
  })

  it('says what a settled request was for, once, and what its reservation was for', async () => {
    const about = { model: 'chat-default', operation: 'create-chat-completion', keyId: 'key1' }
    const settled = { actual: 3, channel: 'main', usage: { inputTokens: 5, videoMilliseconds: 5_040 }, counted: true }
    const row = { kind: 'settle', job: 'request1', amount: 7, at: now + 1, reservedAt: now, ...about, ...settled }
    await put({ ...tableKeys.ledgerResolution(tenant.tenantId, 'request1'), ...row })
    const shared = {
      job: 'request1',
      amount: '0.000007',
      model: 'chat-default',
      operation: about.operation,
      key: 'key1',
    }
    const usage = { ...NOTHING, input_tokens: 5, video_seconds: 5.04 }
    const times = { at: iso(now + 1), reserved_at: iso(now) }
    const billed = { kind: 'settle', actual: '0.000003', ...times, channel: 'main', usage, counted: true }
    expect(await entries(2)).toEqual([
      { ...shared, ...billed },
      { ...shared, kind: 'reserve', actual: null, at: iso(now) },
    ])
  })

  it('shows the id of a grant and of an adjustment, which may be below zero', async () => {
    const key = { ...tableKeys.ledgerGrant(tenant.tenantId, ''), SK: 'adjust#invoice#7' }
    await put({ ...key, kind: 'adjust', amount: -5_000_000, at: now })
    expect(await entries()).toEqual([
      { kind: 'adjust', job: null, amount: '-5', actual: null, at: iso(now), id: 'invoice#7' },
      { kind: 'grant', job: null, amount: '100', actual: null, at: expect.any(String), id: expect.any(String) },
    ])
  })

  it('shows people only the columns that an entry has', async () => {
    const show = async () => (await showLedger(table, { tenant: tenant.tenantId, limit: 1 })).text.split('\n')
    expect((await show())[0]).toMatch(/^AT +KIND +AMOUNT +ACTUAL +JOB +ID$/)
    const usage = { inputTokens: 1_200, outputTokens: 310 }
    const row = { kind: 'settle', job: 'job1', amount: 7, actual: 3, at: now, model: 'm', usage }
    await put({ ...tableKeys.ledgerResolution(tenant.tenantId, 'job1'), ...row })
    const [header, line] = await show()
    expect(header).toMatch(/^AT +KIND +AMOUNT +ACTUAL +JOB +MODEL +USAGE$/)
    expect(line).toMatch(/ job1 +m +1200 in, 310 out$/)
  })

  it('is not shown without a row that nobody can read: it is an error that says so', async () => {
    const Item = { ...tableKeys.ledgerResolution(tenant.tenantId, 'x'), kind: 'gift', amount: 1, at: 1 }
    await put(Item)
    await expect(readLedgerRows(table, tenant.tenantId)).rejects.toThrow(/gift|kind/)
    const malformed: string[] = []
    expect(await readLedgerRows(table, tenant.tenantId, (key) => malformed.push(key))).toHaveLength(1)
    expect(malformed).toEqual(['x#2'])
  })
})

describe('ledger page', () => {
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
})

const about = { model: 'm', operation: 'create-image', keyId: 'key1' }

describe('readDetails', () => {
  it('reads usage with zero for every count that the row leaves out', () => {
    const row = { ...about, channel: 'main', usage: { images: 2 }, counted: true } as const
    const usage = countedUsage({ images: 2 })
    expect(readDetails(row)).toEqual({ ...about, channel: 'main', usage, isCounted: true })
  })

  it('has nothing for a grant', () => {
    const nothing = { model: null, operation: null, keyId: null, channel: null, usage: null, isCounted: false }
    expect(readDetails({})).toEqual(nothing)
    expect(NO_DETAILS).toEqual(nothing)
  })
})

describe('detailsOfReservation', () => {
  it('keeps what was known when it was reserved', () => {
    const settled = readDetails({ ...about, channel: 'main', usage: { images: 2 }, counted: true })
    expect(detailsOfReservation(settled)).toEqual(readDetails(about))
  })
})
