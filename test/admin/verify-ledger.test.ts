import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { jobIdMilliseconds } from '#core/ids.ts'
import { checkCounters, checkRow, checkTimes } from '#lambdas/admin/ledger-invariants.ts'
import { verifyByReading, verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import {
  credits,
  ESTIMATE,
  openTenant,
  RELEASE,
  requireReservation,
  reserveJob,
  settle,
  settledJob,
  TESTER,
  type TestTenant,
} from '../engines/video-jobs.ts'
import { putSettledRow } from './settle-rows.ts'

describe('verifyLedger', () => {
  const engine = useTestTable()

  /** A settlement that the balance knows nothing of. */
  async function breakLedger(tenantId: string): Promise<void> {
    const Item = { ...tableKeys.ledgerGrant(tenantId, 'lost'), kind: 'grant', amount: 5, at: 1 }
    await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
  }

  it('finds nothing at a tenant in order, and a sum that is not that of its rows at another one', async () => {
    const [right, wrong] = [await openTenant(engine.table), await openTenant(engine.table)]
    await settledJob(engine.table, right, { bill: '0.1' })
    await breakLedger(wrong.tenantId)
    expect(await verifyLedger(engine.table, right.tenantId)).toEqual([])
    expect(await verifyLedger(engine.table)).toEqual([
      { tenant: wrong.tenantId, message: 'granted is 100 and the sum of grants and adjustments is 100.000005' },
    ])
  })
})

describe('verifying the ledger of jobs', () => {
  const engine = useTestTable()
  let table: TableWithClient
  let tenant: TestTenant
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openTenant(table)
  })

  const MINUTE = 60_000

  type Endings = 'open' | 'settled' | 'released'

  /** A job as the pipeline leaves it; a settled one costs half a credit of the 0.7 that were locked. */
  async function endJob(ending: Endings, { actual = '0.5', at = Date.now() } = {}): Promise<string> {
    const { jobId } = await reserveJob(table, tenant)
    if (ending !== 'open') {
      await resolve(jobId, ending === 'settled' ? settle(actual) : RELEASE, at)
    }
    return jobId
  }

  async function resolve(jobId: string, resolution: Resolution, nowMilliseconds: number): Promise<void> {
    if (resolution.kind === 'settle') {
      await change(tableKeys.job(tenant.tenantId, jobId), 'status', 'processing')
    }
    const job = await getVideoJob(table, tenant.tenantId, jobId)
    if (job === undefined) {
      throw new Error('no job')
    }
    const reservation = await requireReservation(table, { tenantId: tenant.tenantId, jobId })
    await resolveReservation(table, { job, reservation, resolution, nowMilliseconds })
  }

  async function change(Key: TableKey, member: string, value: unknown): Promise<void> {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key,
        ...(value === undefined
          ? { UpdateExpression: 'REMOVE #m' }
          : { UpdateExpression: 'SET #m = :value', ExpressionAttributeValues: { ':value': value } }),
        ExpressionAttributeNames: { '#m': member },
      }),
    )
  }

  /** Without those of usage counters, which differ too where a settlement is changed (verify-counters.test.ts). */
  const findings = async () =>
    (await verifyLedger(table)).flatMap(({ message }) => (message.startsWith('the usage counter ') ? [] : [message]))

  const ITEMS = {
    job: tableKeys.job,
    reservation: tableKeys.reservation,
    reserve: tableKeys.ledgerReserve,
    resolution: tableKeys.ledgerResolution,
  }

  const CHANGES: readonly [Endings, keyof typeof ITEMS, string, unknown, ...sentences: string[]][] = [
    ['open', 'job', 'estimate', 800_000, 'has unequal amounts: estimate 0.8, reservation 0.7, reserve row 0.7'],
    ['open', 'reserve', 'amount', 800_000, 'has unequal amounts: estimate 0.7, reservation 0.7, reserve row 0.8'],
    ['open', 'reserve', 'actual', 1, 'has a reserve row with an actual amount'],
    ['open', 'reservation', 'actual', 1, 'has an actual amount of 0.000001 and its reservation is held'],
    [
      'settled',
      'reservation',
      'amount',
      800_000,
      'has unequal amounts: estimate 0.7, reservation 0.8, reserve row 0.7, settle row 0.7',
    ],
    [
      'settled',
      'resolution',
      'amount',
      800_000,
      'has unequal amounts: estimate 0.7, reservation 0.7, reserve row 0.7, settle row 0.8',
    ],
    ['settled', 'reservation', 'actual', 1, 'has unequal bills: settle row 0.5, reservation 0.000001, record 0.5'],
    ['settled', 'reservation', 'actual', undefined, 'has unequal bills: settle row 0.5, reservation none, record 0.5'],
    ['settled', 'job', 'billed', 1, 'has unequal bills: settle row 0.5, reservation 0.5, record 0.000001'],
    ['settled', 'resolution', 'at', 1, 'was resolved before it was reserved'],
    [
      'released',
      'resolution',
      'amount',
      800_000,
      'has unequal amounts: estimate 0.7, reservation 0.7, reserve row 0.7, release row 0.8',
    ],
    ['released', 'resolution', 'actual', 0, 'has a release row with an actual amount'],
    ['released', 'reservation', 'actual', 1, 'has an actual amount of 0.000001 and its reservation is released'],
    ['released', 'job', 'billed', 1, 'has an actual amount of 0.000001 and its reservation is released'],
    ['released', 'resolution', 'at', 1, 'was resolved before it was reserved'],
    [
      'released',
      'resolution',
      'amount',
      -1,
      'has unequal amounts: estimate 0.7, reservation 0.7, reserve row 0.7, release row -0.000001',
      'has a negative amount',
    ],
  ]

  it('finds nothing where jobs are open, released, billed below, at and above the estimate, at clocks minutes apart', async () => {
    await endJob('open')
    await endJob('released')
    for (const actual of ['0', '0.5', '0.7', '1.9']) {
      await endJob('settled', { actual, at: Date.now() - 9 * MINUTE })
    }
    expect(await findings()).toEqual([])
  })

  it.each(CHANGES)('finds, of one that is %s, a changed %s.%s (%j)', async (ending, item, member, value, ...found) => {
    const jobId = await endJob(ending)
    await change(ITEMS[item](tenant.tenantId, jobId), member, value)
    expect(await findings()).toEqual(found.map((sentence) => `job ${jobId} ${sentence}`))
  })

  it('finds a settlement without an amount, which the sum of settlements misses too', async () => {
    const jobId = await endJob('settled')
    await change(ITEMS.resolution(tenant.tenantId, jobId), 'actual', undefined)
    expect(await findings()).toEqual([
      'spent is 0.5 and the sum of settlements is 0',
      `job ${jobId} has unequal bills: settle row none, reservation 0.5, record 0.5`,
      `job ${jobId} has a settle row without an actual amount`,
    ])
  })

  it('finds two bills that are wrong by as much as each other, which no sum shows', async () => {
    const [first, second] = [await endJob('settled'), await endJob('settled')]
    await change(ITEMS.resolution(tenant.tenantId, first), 'actual', 400_000)
    await change(ITEMS.resolution(tenant.tenantId, second), 'actual', 600_000)
    const found = await findings()
    expect(found).toHaveLength(2)
    expect(found).toContain(`job ${first} has unequal bills: settle row 0.4, reservation 0.5, record 0.5`)
    expect(found).toContain(`job ${second} has unequal bills: settle row 0.6, reservation 0.5, record 0.5`)
  })

  it('finds a settled record without its bill', async () => {
    const job = await endJob('settled')
    await change(ITEMS.job(tenant.tenantId, job), 'billed', undefined)
    expect(await findings()).toEqual([`job ${job} has unequal bills: settle row 0.5, reservation 0.5, record none`])
  })

  it('finds rows that do not agree where the record was collected long ago', async () => {
    const at = Date.now() - 40 * 24 * 60 * MINUTE
    const { jobId } = await reserveJob(table, tenant, { createdAt: Math.trunc(at / 1000) })
    await resolve(jobId, settle('0.5'), jobIdMilliseconds(jobId) + MINUTE)
    const collected = Math.trunc(Date.now() / 1000) - 60
    await change(ITEMS.job(tenant.tenantId, jobId), 'ttl', collected)
    await change(ITEMS.reservation(tenant.tenantId, jobId), 'ttl', collected)
    expect(await findings()).toEqual([])
    await change(ITEMS.reserve(tenant.tenantId, jobId), 'amount', 800_000)
    expect(await findings()).toEqual([`job ${jobId} has unequal amounts: reserve row 0.8, settle row 0.7`])
  })

  it('finds a grant below nothing', async () => {
    await grantTenant(table, tenant.tenantId, { credits: ESTIMATE, id: 'x', actor: TESTER })
    await change(tableKeys.ledgerGrant(tenant.tenantId, 'x'), 'amount', credits('-0.7'))
    await change(tableKeys.balance(tenant.tenantId), 'granted', credits('99.3'))
    await change(tableKeys.balance(tenant.tenantId), 'available', credits('99.3'))
    expect(await findings()).toEqual(['a grant has a negative amount'])
  })
})

describe('checkCounters', () => {
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

const row = (kind: 'reserve' | 'settle' | 'release' | 'grant' | 'adjust', amount: bigint, actual: bigint | null) => ({
  ...{ key: 'job#1', kind, amount, actual, job: 'job', at: 0, estimated: false },
})

describe('checkRow', () => {
  it.each([
    row('reserve', 5n, null),
    row('settle', 5n, 0n),
    row('release', 5n, null),
    row('grant', 0n, null),
    row('adjust', -5n, null),
  ])('finds nothing in a $kind row that bills what it may', (good) => {
    expect(checkRow('job', good as never)).toEqual([])
  })

  it.each([
    [row('settle', 5n, null), 'job has a settle row without an actual amount'],
    [row('release', 5n, 5n), 'job has a release row with an actual amount'],
    [row('reserve', -1n, null), 'job has a negative amount'],
    [row('grant', -1n, null), 'job has a negative amount'],
    [row('adjust', 1n, 1n), 'job has a adjust row with an actual amount'],
    [row('settle', 5n, -1n), 'job has a negative amount'],
  ])('finds %#: %s', (bad, sentence) => {
    expect(checkRow('job', bad as never)).toEqual([sentence])
  })
})

describe('checkTimes', () => {
  const TEN_MINUTES = 600_000

  it('allows for the clocks of two functions, each five minutes wrong', () => {
    expect(checkTimes('job', TEN_MINUTES, 0)).toEqual([])
    expect(checkTimes('job', TEN_MINUTES + 1, 0)).toEqual(['job was resolved before it was reserved'])
  })
})

describe('verifyByReading', () => {
  const engine = useTestTable()

  /** A settlement that the balance knows nothing of. */
  async function breakLedger(tenantId: string): Promise<void> {
    const Item = { ...tableKeys.ledgerGrant(tenantId, 'lost'), kind: 'grant', amount: 5, at: 1 }
    await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
  }

  it('tells the findings of one tenant', async () => {
    const { tenantId } = await openTenant(engine.table)
    expect(await verifyByReading(engine.table, tenantId)).toEqual([])
    await breakLedger(tenantId)
    expect(await verifyByReading(engine.table, tenantId)).toEqual([{ tenant: tenantId, message: expect.any(String) }])
  })

  it('gives up on a tenant with too many pages', async () => {
    const { tenantId } = await openTenant(engine.table)
    const endless = {
      ...engine.table,
      queryPage: async () => ({ items: [], nextKey: tableKeys.ledgerGrant(tenantId, 'x') }),
    }
    await expect(verifyByReading(endless, tenantId, { isBounded: true })).rejects.toMatchObject({
      issues: [{ path: 'tenant', message: expect.stringContaining('ledger verify') }],
    })
  })
})
