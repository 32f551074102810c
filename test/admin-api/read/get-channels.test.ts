import { beforeAll, describe, expect, it } from 'vitest'
import { channelsResponse, overviewResponse } from '#core/admin/read-responses.ts'
import { changeSwitchesTogether } from '#store/switches.ts'
import { useTestTable } from '../../engines/test-table.ts'
import { openTenant, settledJob, TESTER, type TestTenant } from '../../engines/video-jobs.ts'
import { keyOf, readRig } from './read-rig.ts'

process.env.CONSOLE_ORIGIN = 'loopback'

const engine = useTestTable()
let read: ReturnType<typeof readRig>
let tenant: TestTenant
beforeAll(async () => {
  read = readRig(engine.table)
  tenant = await openTenant(engine.table)
  await openTenant(engine.table)
  await settledJob(engine.table, tenant, { bill: '0.1' })
})

const TRAFFIC = {
  ...{ minuteFrom: 120_000, requests: 3, errors: 1, p50Milliseconds: 5, p95Milliseconds: 9 },
  minutes: [{ at: 120_000, requests: 3, errors: 1 }],
}

describe('get-channels', () => {
  it('get-channels 200: channels with their figures, and models with their prices', async () => {
    const figures = async () => ({
      ...{ minuteFrom: 60_000, breakers: new Map(), traffic: TRAFFIC },
      byChannel: new Map([['main', { calls: 3, errors: { timeout: 1 }, p50Milliseconds: 5, p95Milliseconds: 9 }]]),
    })
    const asked = readRig(engine.table, { figures })
    const { status, body } = await asked('/channels', {}, { role: 'viewer' })
    expect([status, channelsResponse.safeParse(body).error]).toEqual([200, undefined])
    expect(body).toMatchObject({
      figures_from: 60,
      channels: [
        { id: 'main', disabled: false, open_jobs: 0, breaker: null, figures: { requests: 3, errors: 1, p95_ms: 9 } },
        { id: 'spare', figures: { requests: 0 } },
      ],
      models: [{ channels: ['main', 'spare'], disabled: false }, {}],
    })
    const overview = await asked('/overview')
    expect(overviewResponse.safeParse(overview.body).error).toBeUndefined()
    expect(overview.body).toMatchObject({
      ...{ traffic: { from: 120, requests_per_minute: 3, minutes: [{ at: 120 }] }, figures_from: 60 },
      channels: [{ id: 'main' }, { id: 'spare' }],
    })
  })

  it('get-channels 200: switches of models and channels that left the configuration, for operators alone', async () => {
    const changer = { actor: TESTER, at: 5_000 }
    const old = [
      { kind: 'model', id: 'old', action: 'disable' },
      { kind: 'channel', id: 'gone', action: 'disable' },
    ] as const
    await changeSwitchesTogether(engine.table, old, changer)
    const { status, body } = await read('/channels', {}, { role: 'viewer' })
    expect([status, channelsResponse.safeParse(body).error]).toEqual([200, undefined])
    expect(body.left_over_models).toEqual([{ id: 'old', disabled: true, switched_by: TESTER.name, switched_at: 5 }])
    expect(JSON.stringify(body.channels)).toContain('"gone"')
    expect((await read('/channels', {}, keyOf(tenant.tenantId))).body.left_over_models).toEqual([])
    const cleared = old.map(({ kind, id }) => ({ kind, id, action: 'clear' as const }))
    await changeSwitchesTogether(engine.table, cleared, changer)
    expect((await read('/channels')).body.left_over_models).toEqual([])
  })

  it('get-channels 200: an API key sees its models and no channel, and none once the key is gone', async () => {
    const keyId = tenant.keyDigest.slice(0, 8)
    const { status, body, requests } = await read('/channels', {}, { ...keyOf(tenant.tenantId), keyId })
    expect([status, channelsResponse.safeParse(body).error, body.channels]).toEqual([200, undefined, []])
    expect(requests).toBe(3)
    expect(body.models).toMatchObject([{ channels: [] }, {}])
    expect((await read('/channels', {}, { ...keyOf(tenant.tenantId), keyId: 'gone' })).body.models).toEqual([])
  })
})
