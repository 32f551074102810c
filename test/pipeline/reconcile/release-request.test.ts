import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { openRelayingTenant, type RelayingTenant } from '../../adapters/store/accounts/relaying-tenant.ts'
import { reserveEarlier } from '../../adapters/store/money/earlier-reservations.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import type { Pipeline } from '../../engines/create-pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'

let engines: Engines
let pipeline: Pipeline
let tenant: RelayingTenant
beforeAll(async () => {
  engines = await startEngines()
})
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
  tenant = await openRelayingTenant(pipeline.context.table, '10')
})
afterAll(() => engines.close())

const LIFETIME_MILLISECONDS = 960_000

async function open(credits: string, changes: { reservedAt?: number; requestId?: string } = {}) {
  const request = tenant.request(credits, { reservedAt: pipeline.clock.milliseconds, ...changes })
  await reserveEarlier(pipeline.context.table, request)
  return request
}

async function reconcileAfter(milliseconds: number, options: Partial<Parameters<typeof reconcile>[1]> = {}) {
  pipeline.clock.advance(milliseconds / 1000)
  await reconcile(pipeline.context, { all: false, ...options })
}

const expired = () => engines.counted().filter((fact) => fact === 'reservation_expired').length

describe('a reservation that version 0.2.0 made and nobody settled', () => {
  it('is given back sixteen minutes after it was made and not a moment before, and is counted once', async () => {
    const request = await open('1')
    await reconcileAfter(LIFETIME_MILLISECONDS - 1)
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
    await reconcileAfter(1)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    await reconcileAfter(60_000)
    expect(expired()).toBe(1)
    const rows = (await readPartition(pipeline.context.table, `L#${tenant.tenantId}`)).filter(
      ({ kind }) => kind !== 'grant',
    )
    expect(rows).toMatchObject([{ kind: 'release', job: request.requestId, reservedAt: request.reservedAt }])
    expect(await auditTenant(pipeline.context.table, tenant.tenantId)).toEqual([])
  })

  it('is given back with all others of a crash, whatever stands beside them, whatever its id is', async () => {
    await Promise.all(Array.from({ length: 20 }, () => open('0.1')))
    await open('1', { requestId: 'JKJaXmPLvHcESH==' })
    const { table } = pipeline.context
    const spoiled = { ...tableKeys.requestReservation(tenant.tenantId, 'spoiled'), GSI1PK: 'OPEN#0', GSI1SK: '0' }
    await table.client.send(new PutCommand({ TableName: table.name, Item: spoiled }))
    await reconcileAfter(LIFETIME_MILLISECONDS)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect(expired()).toBe(21)
  })

  it('is given back at once by a local host, whose process makes no such reservations', async () => {
    await open('1', { reservedAt: pipeline.clock.milliseconds })
    await reconcileAfter(0, { all: true, livingProcessId: 'process' })
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
  })
})
