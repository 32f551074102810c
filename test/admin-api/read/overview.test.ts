import { beforeAll, describe, expect, it } from '@jest/globals'
import type { AllFigures } from '#core/measures.ts'
import { dayOf, daysBefore } from '#core/pricing/usage.ts'
import { summarySource } from '#lambdas/admin-api/read/summary-source.ts'
import { countFailedJob } from '#store/jobs/failed-jobs.ts'
import { buildSummary, keepNearBudgets } from '#store/summary.ts'
import { change } from '#store/table/expressions.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { getOverviewDocument } from '../../../lib/cli/admin/overview.ts'
import { TENANT_DOCUMENTS } from '../../../lib/cli/admin/tenants.ts'
import { putKeyBudget } from '../../engines/budgets.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import type { TestTable } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, settledJob, type TestTenant } from '../../engines/video-jobs.ts'
import { keyOf, readRig } from './read-rig.ts'

process.env.CONSOLE_ORIGIN = 'loopback'

const engine = useTestTable()
let read: ReturnType<typeof readRig>
let tenant: TestTenant
let other: TestTenant
beforeAll(async () => {
  read = readRig(engine.table)
  tenant = await openTenant(engine.table)
  other = await openTenant(engine.table)
  await settledJob(engine.table, tenant, { bill: '0.1' })
})

describe('get-overview', () => {
  it('get-overview 200: of all tenants', async () => {
    const { status, body } = await read('/overview')
    expect([status, getOverviewDocument.output.safeParse(body).error]).toEqual([200, undefined])
    const days = [{ day: dayOf(Date.now()), cost: '0.1', requests: 1 }]
    expect(body).toMatchObject({ tenant: null, tenants: 2, open_jobs: 0, spend: { today: '0.1', month: '0.1', days } })
  })

  it('get-overview 200: of one tenant with three requests, and of an API key without what is of others', async () => {
    for (const [query, session] of [
      [{ tenant: tenant.tenantId }, {}],
      [{}, keyOf(tenant.tenantId)],
    ] as const) {
      const { status, body, requests } = await read('/overview', query, session)
      expect([status, getOverviewDocument.output.safeParse(body).error, requests]).toEqual([200, undefined, 3])
      expect(body).toMatchObject({
        tenant: { id: tenant.tenantId, name: 'Test' },
        spend: { today: '0.1', budget: null },
        balance: { available: '99.9' },
        ...{ traffic: null, tenants: null, channels: [] },
      })
    }
  })

  it('get-overview 200: no amount, rather than a wrong one, for a tenant with too many counters', async () => {
    const queryPage: TestTable['table']['queryPage'] = async () => ({ items: [], nextKey: { PK: 'more' } })
    const table = () => ({ ...engine.table, queryPage })
    const { status, body } = await readRig(engine.table, { table })('/overview', { tenant: tenant.tenantId })
    expect([status, getOverviewDocument.output.safeParse(body).error]).toEqual([200, undefined])
    const spend = { today: null, month: null, days: [], left_out: expect.stringContaining('too many counters') }
    expect(body).toMatchObject({ balance: { available: '99.9' }, spend })
  })

  it('get-overview 200: sums the latest days of a large tenant, and says which days it left out', async () => {
    const today = dayOf(Date.now())
    const completeFrom = daysBefore(today, 2)
    const queryPage: TestTable['table']['queryPage'] = async (query) => {
      const { items } = await engine.table.queryPage(query)
      const before = items.map((item) => ({ ...item, SK: `${daysBefore(today, 3)}${String(item.SK).slice(10)}` }))
      return { items: [...items, ...before], nextKey: { PK: 'more' } }
    }
    const ask = readRig({ ...engine.table, queryPage })
    const { body, requests } = await ask('/overview', { tenant: tenant.tenantId })
    const month = completeFrom > `${today.slice(0, 7)}-01` ? null : '0.1'
    const spend = { today: '0.1', month, days: [{ day: today }], left_out: expect.stringContaining(completeFrom) }
    expect([requests, body]).toMatchObject([3, { spend }])
  })

  it('get-overview 200: lists failing jobs and budgets of keys, of one tenant and of all', async () => {
    const { tenantId } = tenant
    for (const jobId of ['j1', 'j2', 'j3']) {
      await countFailedJob(engine.table, { tenantId, jobId }, Date.now())
    }
    await putKeyBudget(engine.table, tenantId, 'k1', { spent: '10', periodId: dayOf(Date.now()) })
    await keepNearBudgets(engine.table, [{ tenantId, budgetId: 'k1', percent: 90 }])
    const attention = [
      { kind: 'failing_jobs', tenant: { id: tenantId }, target: 'j3' },
      { kind: 'budget', level: 'critical', target: 'k1' },
    ]
    const ofOne = await read('/overview', { tenant: tenantId })
    expect([getOverviewDocument.output.safeParse(ofOne.body).error, ofOne.requests]).toEqual([undefined, 4])
    const ofAll = await readRig(engine.table)('/overview')
    expect([ofOne.body, ofAll.body]).toMatchObject([{ attention }, { attention }])
    expect((await read('/overview', {}, keyOf('other'))).status).toBe(404)
  })

  it('get-overview 200: leaves out a listed budget that was raised or is no longer watched, of one tenant and of all', async () => {
    const [{ tenantId }, periodId] = [other, dayOf(Date.now())]
    await putKeyBudget(engine.table, tenantId, 'raised', { amount: '100', spent: '10', periodId })
    await putKeyBudget(engine.table, tenantId, 'revoked', { spent: '10', periodId })
    await engine.table.updateItem(change(tableKeys.keyBudget('revoked'), { remove: ['GSI1PK', 'GSI1SK'] }))
    const listed = ['raised', 'revoked', 'gone'].map((budgetId) => ({ tenantId, budgetId, percent: 100 }))
    await keepNearBudgets(engine.table, listed)
    for (const query of [{ tenant: tenantId }, {}]) {
      const { attention } = (await readRig(engine.table)('/overview', query)).body
      expect(attention).not.toContainEqual(expect.objectContaining({ kind: 'budget' }))
    }
  })

  it('get-overview 200: lists a breaker that is open, and breakers that opened on AWS', async () => {
    const empty = { ...{ minuteFrom: undefined, byChannel: new Map() }, breakers: undefined }
    const listed = async (figures: AllFigures) =>
      (await readRig(engine.table, { config: () => relayed, figures: async () => figures })('/overview')).body.attention
    const { config } = testCatalogue()
    const relayed = {
      ...config,
      channels: config.channels.map((channel) => ({ ...channel, provider: 'openai' })),
    } as typeof config
    const ofBreakers = (message: string) =>
      expect.arrayContaining([expect.objectContaining({ kind: 'breaker', message, target: 'main' })])
    expect(await listed({ ...empty, breakers: new Map([['main', 'open']]) })).toEqual(
      ofBreakers('the breaker of main is open'),
    )
    const breakerOpenings = new Map([
      ['main', 2],
      ['spare', 0],
    ])
    expect(await listed({ ...empty, breakerOpenings })).toEqual(
      ofBreakers('breakers of main opened 2 times in the last hour'),
    )
  })

  it('get-overview 200: says that more than one request in twenty has failed, of enough requests', async () => {
    const failing = async (requests: number, errors: number) => {
      const minutes = [
        { at: 0, requests: 1, errors: 0 },
        { at: 60_000, requests: requests - 1, errors },
      ]
      const traffic = { minuteFrom: 60_000, requests, errors, p50Milliseconds: null, p95Milliseconds: null, minutes }
      const figures = async () => ({ minuteFrom: undefined, byChannel: new Map(), breakers: undefined, traffic })
      const { body } = await readRig(engine.table, { figures })('/overview')
      return Object(body).attention.filter(({ kind }: { kind: string }) => kind === 'failing_requests')
    }
    const message = '6 % of the requests of the last half hour have failed'
    expect(await failing(100, 6)).toMatchObject([{ level: 'critical', message, tenant: null }])
    expect([await failing(100, 5), await failing(19, 19)]).toEqual([[], []])
  })

  it('get-overview 200: says which tenants the sums of all do not hold', async () => {
    const nowMilliseconds = Date.now()
    const partly = await buildSummary(engine.table, { previous: undefined, nowMilliseconds, hasTime: () => false })
    const ask = readRig(engine.table, { summary: async () => partly })
    const leftOut = expect.stringContaining(tenant.tenantId)
    expect((await ask('/overview')).body).toMatchObject({ spend: { left_out: leftOut } })
    expect((await ask('/usage')).body).toMatchObject({ left_out: leftOut })
  })

  it('get-overview 403: another tenant; get-overview 404: an unknown one', async () => {
    expect((await read('/overview', { tenant: 'other' }, keyOf(tenant.tenantId))).status).toBe(403)
    expect((await read('/overview', { tenant: 'other' })).status).toBe(404)
  })

  it('get-overview 503: before the first summary is written', async () => {
    const summary = summarySource({ table: () => engine.table, now: Date.now, isLive: false })
    const { status, body } = await readRig(engine.table, { summary })('/overview')
    expect([status, body]).toMatchObject([503, { error: { message: expect.stringContaining('not written yet') } }])
  })
})

describe('list-tenants', () => {
  it('list-tenants 200: pages by id', async () => {
    const first = await read('/tenants', { limit: '1' })
    expect([first.status, TENANT_DOCUMENTS.listTenants.output.safeParse(first.body).error]).toEqual([200, undefined])
    const second = await read('/tenants', { limit: '1', after: String(first.body.next) })
    expect([first.body.has_more, second.body.has_more, second.body.next]).toEqual([true, false, null])
    expect(JSON.stringify([first.body, second.body])).toContain(tenant.tenantId)
  })

  it('list-tenants 403: not for API keys', async () => {
    expect((await read('/tenants', {}, keyOf(tenant.tenantId))).status).toBe(403)
  })
})

describe('get-usage', () => {
  it('get-usage 200: of all tenants by tenant; get-usage 400: by tenant of one', async () => {
    const { status, body } = await read('/usage', { group_by: 'tenant' })
    expect([status, body.rows]).toMatchObject([200, [{ tenant: tenant.tenantId, cost: '0.1' }]])
    expect((await read('/usage', { group_by: 'tenant', tenant: tenant.tenantId })).status).toBe(400)
  })
})

describe('summarySource', () => {
  it('makes one summary for requests that arrive together, and another one two seconds later', async () => {
    let [now, queries] = [Date.now(), 0]
    const queryPage: TestTable['table']['queryPage'] = (query, startKey) => {
      queries += String(query.ExpressionAttributeValues?.[':pk']) === 'TENANTS' ? 1 : 0
      return engine.table.queryPage(query, startKey)
    }
    const source = summarySource({ table: () => ({ ...engine.table, queryPage }), now: () => now, isLive: true })
    await Promise.all([source(), source()])
    await source()
    expect(queries).toBe(1)
    now += 2_001
    await source()
    expect(queries).toBe(2)
  })
})
