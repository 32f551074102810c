import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { openLeanTable } from '#adapters/store/table/lean-table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import {
  openRelayingTenant,
  RELEASE,
  type RelayingTenant,
  settle,
} from '../../adapters/store/accounts/relaying-tenant.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import type { Pipeline } from '../../engines/create-pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'

const before = { ...process.env }
let engines: Engines
let pipeline: Pipeline
let tenant: RelayingTenant
let ledger: RelayLedger
beforeAll(async () => {
  engines = await startEngines()
})
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: engines.tables.endpoint,
    TABLE_NAME: pipeline.context.table.name,
  })
  ledger = new RelayLedger(openLeanTable())
  tenant = await openRelayingTenant(pipeline.context.table, '10')
})
afterAll(async () => {
  process.env = before
  await engines.close()
})

/** Sixteen minutes: a minute more than any function lives. */
const LIFETIME_MILLISECONDS = 960_000

async function open(credits = '1', reservedAt = pipeline.clock.milliseconds) {
  const request = tenant.request(credits, { reservedAt })
  await ledger.reserve(request)
  return request
}

async function reconcileAfter(milliseconds: number, options: Partial<Parameters<typeof reconcile>[1]> = {}) {
  pipeline.clock.advance(milliseconds / 1000)
  await reconcile(pipeline.context, { all: false, ...options })
}

const expired = () => engines.counted().filter((fact) => fact === 'reservation_expired').length
const rows = async () =>
  (await readPartition(pipeline.context.table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')

describe('the reservation of a request that nobody settled', () => {
  it('is given back sixteen minutes after it was made and not a moment before, and is counted', async () => {
    const request = await open()
    await reconcileAfter(LIFETIME_MILLISECONDS - 1)
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
    await reconcileAfter(1)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect(await rows()).toMatchObject([{ kind: 'release', job: request.requestId, reservedAt: request.reservedAt }])
    expect(expired()).toBe(1)
    await reconcileAfter(60_000)
    expect(expired()).toBe(1)
    expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
  })

  it('is not billed by a settlement that comes after, which is counted as a conflict', async () => {
    const request = await open()
    await reconcileAfter(LIFETIME_MILLISECONDS)
    expect(await ledger.resolve(request, settle('0.5'))).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect(engines.counted()).toEqual(['reservation_expired', 'resolution_conflict'])
  })

  it('is either billed or given back when both come at once', async () => {
    const requests = await Promise.all(Array.from({ length: 8 }, () => open('1')))
    const run = reconcileAfter(LIFETIME_MILLISECONDS)
    const outcomes = await Promise.all(requests.map((request) => ledger.resolve(request, settle('1'))))
    await run
    const billed = outcomes.filter((outcome) => outcome === 'resolved').length
    expect(expired()).toBe(8 - billed)
    expect(await tenant.balance()).toEqual([String(10 - billed), '0', String(billed)])
    expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
  })

  it('that was settled in time is left alone', async () => {
    const request = await open()
    await ledger.resolve(request, settle('0.5'))
    await reconcileAfter(LIFETIME_MILLISECONDS)
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(engines.counted()).toEqual([])
  })

  it('is given back with all others of a crash, whatever stands beside them', async () => {
    await Promise.all(Array.from({ length: 60 }, () => open('0.1')))
    const { table } = pipeline.context
    const spoiled = { ...tableKeys.requestReservation(tenant.tenantId, 'spoiled'), GSI1PK: 'OPEN#0', GSI1SK: '0' }
    await table.client.send(new PutCommand({ TableName: table.name, Item: spoiled }))
    await reconcileAfter(LIFETIME_MILLISECONDS)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect(expired()).toBe(60)
  })

  it('under an id that is no uuid is found too', async () => {
    const request = tenant.request('1', { requestId: 'JKJaXmPLvHcESH==', reservedAt: pipeline.clock.milliseconds })
    await ledger.reserve(request)
    await reconcileAfter(LIFETIME_MILLISECONDS)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
  })
})

describe('after a start of the local host', () => {
  it('reservations older than the process are given back at once, and younger ones kept', async () => {
    const startedAtMilliseconds = pipeline.clock.milliseconds
    const old = await open('1', startedAtMilliseconds - 1)
    const young = await open('2', startedAtMilliseconds)
    await reconcileAfter(0, { all: true, startedAtMilliseconds })
    expect(await tenant.balance()).toEqual(['8', '2', '0'])
    expect(await ledger.resolve(young, settle('2'))).toBe('resolved')
    expect(await ledger.resolve(old, RELEASE)).toBe('already_resolved')
  })

  it('nothing but what is due is given back by whoever does not say when the process began', async () => {
    await open('1', pipeline.clock.milliseconds - 60_000)
    await reconcileAfter(0, { all: true })
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
    await reconcileAfter(0, { all: false, startedAtMilliseconds: pipeline.clock.milliseconds })
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
  })
})
