import { beforeAll, describe, expect, it } from '@jest/globals'
import { NO_SWITCHES } from '#core/catalogue/switches.ts'
import type { AllFigures } from '#core/measures.ts'
import { channelHealth, trafficOf } from '#lambdas/admin/channels.ts'
import { changeSwitchesTogether } from '#store/switches.ts'
import { CHANNEL_DOCUMENTS } from '../../../lib/cli/admin/channels.ts'
import { getOverviewDocument } from '../../../lib/cli/admin/overview.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, settledJob, TESTER, type TestTenant } from '../../engines/video-jobs.ts'
import { keyOf, readRig } from './read-rig.ts'

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

describe('list-channels and list-models', () => {
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

  it('list-channels 200: channels with their figures', async () => {
    const figures = async () => ({
      ...{ minuteFrom: 60_000, breakers: new Map(), traffic: TRAFFIC },
      byChannel: new Map([['main', { calls: 3, errors: { timeout: 1 }, p50Milliseconds: 5, p95Milliseconds: 9 }]]),
    })
    const asked = readRig(engine.table, { figures })
    const { status, body, requests } = await asked('/channels', {}, { role: 'viewer' })
    expect([status, outputOf('listChannels').safeParse(body).error, requests]).toEqual([200, undefined, 3])
    expect(body).toMatchObject({
      minute_from: '1970-01-01T00:01:00.000Z',
      channels: [
        {
          ...{ id: 'main', state: 'enabled', open_jobs: 0, breaker: null, settings: [] },
          ...{ calls: 3, errors: { timeout: 1 }, p95_milliseconds: 9 },
        },
        { id: 'spare', calls: 0 },
      ],
    })
    const overview = await asked('/overview')
    expect(getOverviewDocument.output.safeParse(overview.body).error).toBeUndefined()
    expect(overview.body).toMatchObject({
      ...{ traffic: { from: iso(120), requests_per_minute: 3, minutes: [{ at: iso(120) }] }, figures_from: iso(60) },
      channels: [{ id: 'main' }, { id: 'spare' }],
    })
  })

  it('list-models 200 and list-channels 200: switches of what left the configuration, for operators alone', async () => {
    const changer = { actor: TESTER, at: 5_000 }
    const old = [
      { kind: 'model', id: 'old', action: 'disable' },
      { kind: 'channel', id: 'gone', action: 'disable' },
    ] as const
    await changeSwitchesTogether(engine.table, old, changer)
    const settings = [{ setting: 'state', value: 'disabled', by: TESTER.name, since: '1970-01-01T00:00:05.000Z' }]
    const left = { state: 'not configured', settings }
    const models = await read('/models', {}, { role: 'viewer' })
    expect(outputOf('listModels').safeParse(models.body).error).toBeUndefined()
    expect(models.body.models).toMatchObject([
      { channels: ['main', 'spare'], state: 'enabled' },
      {},
      { id: 'old', ...left },
    ])
    const channels = await read('/channels', {}, { role: 'viewer' })
    expect(outputOf('listChannels').safeParse(channels.body).error).toBeUndefined()
    expect(channels.body.channels).toMatchObject([{}, {}, { id: 'gone', ...left }])
    expect(JSON.stringify(await read('/models', {}, keyOf(tenant.tenantId)))).not.toContain('old')
    const cleared = old.map(({ kind, id }) => ({ kind, id, action: 'clear' as const }))
    await changeSwitchesTogether(engine.table, cleared, changer)
    expect((await read('/models')).body.models).toHaveLength(2)
  })

  it('list-models 200: an API key sees its models and no channel, and none once the key is gone', async () => {
    const keyId = tenant.keyDigest.slice(0, 8)
    const { status, body, requests } = await read('/models', {}, { ...keyOf(tenant.tenantId), keyId })
    expect([status, outputOf('listModels').safeParse(body).error, requests]).toEqual([200, undefined, 3])
    expect(body.models).toMatchObject([{ channels: [], configured: null, settings: [] }, {}])
    expect((await read('/models', {}, { ...keyOf(tenant.tenantId), keyId: 'gone' })).body.models).toEqual([])
    expect((await read('/channels', {}, keyOf(tenant.tenantId))).status).toBe(403)
  })
})

function outputOf(name: 'listChannels' | 'listModels') {
  return CHANNEL_DOCUMENTS[name].output
}

const state = (changes: Partial<AllFigures> = {}) => ({
  config: testCatalogue().config,
  switches: NO_SWITCHES,
  openJobs: new Map([['video', 3]]),
  figures: { minuteFrom: 60_000, byChannel: new Map(), breakers: undefined, ...changes },
})

describe('trafficOf', () => {
  const traffic = {
    ...{ minuteFrom: 60_000, requests: 10, errors: 2, p50Milliseconds: 100, p95Milliseconds: 950 },
    minutes: [{ at: 60_000, requests: 10, errors: 2 }],
  }

  it('is what clients did, with the minute that it describes', () => {
    expect(trafficOf(state({ traffic }))).toEqual({
      ...{ from: iso(60), requests_per_minute: 10, errors_per_minute: 2, first_byte_ms: { p50: 100, p95: 950 } },
      minutes: [{ at: iso(60), requests: 10, errors: 2 }],
    })
  })

  it('has no latency without a relayed request, and is nothing where it is not known', () => {
    const idle = { ...traffic, p50Milliseconds: null, p95Milliseconds: null }
    expect(trafficOf(state({ traffic: idle }))?.first_byte_ms).toBeNull()
    expect([trafficOf(state()), trafficOf({ figures: undefined })]).toEqual([null, null])
  })
})

describe('channelHealth', () => {
  it('shows a breaker where one process has them all, and none of a video channel', () => {
    const breakers = new Map([['a', 'open']] as const)
    const health = (id: string, provider: 'openai' | 'p1') =>
      channelHealth({ id, provider }, state({ breakers })).breaker
    expect([health('a', 'openai'), health('b', 'openai'), health('a', 'p1')]).toEqual(['open', 'closed', null])
    expect(channelHealth({ id: 'a', provider: 'openai' }, state()).breaker).toBeNull()
  })

  it('shows how often breakers opened where every instance has its own', () => {
    const breakerOpenings = new Map([['a', 2]])
    const openings = (id: string, provider: 'openai' | 'p1') =>
      channelHealth({ id, provider }, state({ breakerOpenings })).breaker_openings
    expect([openings('a', 'openai'), openings('b', 'openai'), openings('a', 'p1')]).toEqual([2, null, null])
    expect(channelHealth({ id: 'a', provider: 'openai' }, state()).breaker_openings).toBeNull()
  })

  it('shows open jobs, and whether an operator has disabled it', () => {
    const disabled = { channels: { video: { enabled: { value: false, by: 'ada', at: 5 } } }, models: {} } as const
    expect(channelHealth({ id: 'video', provider: 'p1' }, { ...state(), switches: disabled })).toMatchObject({
      ...{ disabled: true, open_jobs: 3, figures: { requests: 0, errors: 0 } },
    })
  })
})
