import { describe, expect, it } from 'vitest'
import { count } from '#adapters/telemetry/count.ts'
import { measure } from '#adapters/telemetry/measure.ts'
import { COUNTED_FACTS } from '#core/telemetry/counted-facts.ts'
import { MEASURES } from '#core/telemetry/measures.ts'
import { DEFAULT_ASSUMPTIONS } from '../../../bench/capacity/assumptions.ts'
import { CDN_PLANS, itemsOf, payAsYouGo } from '../../../bench/capacity/cdn-plans.ts'
import { chatLoad, costOfMillionChats } from '../../../bench/capacity/chat-costs.ts'
import { sumOf } from '../../../bench/capacity/cost-line.ts'
import {
  CHAT_SECONDS,
  chatComparison,
  DEPLOYED_MEGABYTES,
  lambdaDollars,
  SHIPPED_CHANNELS,
} from '../../../bench/capacity/cost-report.ts'
import { costOfThousandDeletes, costOfThousandJobs } from '../../../bench/capacity/job-costs.ts'
import { costOfIdleMonth, customMetrics, IDLE_RESOURCES } from '../../../bench/capacity/month-costs.ts'
import { costOfMillionWebChats } from '../../../bench/capacity/web-function-costs.ts'
import { DOLLARS } from '../../../bench/list-prices.ts'
import { WEB_ACL_PRICE } from '../../../lib/config/context-settings.ts'
import { shippedConfiguration, stageSettings, synthesizeStack } from '../../aws/synthesize-stack.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'

const assumptions = DEFAULT_ASSUMPTIONS
const dollars = (lines: ReturnType<typeof costOfMillionChats>, part: string) =>
  lines.find((line) => line.part === part)?.dollars

describe('the cost of a million chats', () => {
  it('is, behind API Gateway, mostly the time that a function waits, and halves with its memory', () => {
    const served = { chatSeconds: 4, assumptions }
    const large = dollars(costOfMillionChats({ ...served, memoryMegabytes: 1024 }), 'Lambda time') ?? 0
    const small = dollars(costOfMillionChats({ ...served, memoryMegabytes: 512 }), 'Lambda time') ?? 0
    expect(large).toBeCloseTo(53.3, 0)
    expect(small / large).toBeCloseTo(0.5, 2)
  })
})

describe('the cost of a Web Function', () => {
  const web = { chatSeconds: 4, atOnce: 8, assumptions } as const

  it('bills CPU for the work alone, between Lambda’s price of a vCPU and the factor of it', () => {
    const [low, high] = (['low', 'high'] as const).map((end) =>
      dollars(costOfMillionWebChats({ ...web, end }), 'CPU time'),
    )
    expect(low).toBeCloseTo(chatLoad(4, assumptions).cpuSeconds * 23.03, 1)
    expect((high ?? 0) / (low ?? 1)).toBeCloseTo(assumptions.webRateFactor)
  })

  it('shares the memory of an environment among the chats that it serves at once', () => {
    const memory = (atOnce: number) => dollars(costOfMillionWebChats({ ...web, atOnce, end: 'high' }), 'Memory') ?? 0
    expect(memory(1)).toBeCloseTo(4 * 2 * 13.3334, 1)
    expect(memory(64)).toBeCloseTo(memory(1) / 64, 3)
  })

  it('writes fewer units for settlements of one tenant that come together, and never fewer than a group of them', () => {
    const writes = (atOnce: number) =>
      (dollars(costOfMillionWebChats({ ...web, atOnce, end: 'low' }), 'DynamoDB writes') ?? 0) / 0.625
    expect(writes(1)).toBe(14)
    // 16 chats a second, four in a quarter of a second: 6 to reserve each, 14 to settle four.
    expect(writes(64)).toBeCloseTo(6 + 14 / 4)
  })
})

describe('chatComparison', () => {
  it('says from how many chats at once a Web Function is cheaper at the high end of its range, and not with one less', () => {
    const last = chatComparison(assumptions).trim().split('\n').at(-1) ?? ''
    const found = last.split('|').slice(2, -1).map(Number)
    expect(found).toHaveLength(3)
    for (const [index, chatSeconds] of CHAT_SECONDS.entries()) {
      const functions = lambdaDollars({ chatSeconds, memoryMegabytes: DEPLOYED_MEGABYTES, assumptions })
      const highest = (atOnce: number) =>
        sumOf(costOfMillionWebChats({ chatSeconds, atOnce, end: 'high', assumptions }))
      const atOnce = found[index] ?? 0
      expect([highest(atOnce) < functions, highest(atOnce - 1) < functions]).toEqual([true, false])
    }
  })
})

describe('a plan of CloudFront', () => {
  it('is used up by requests or by data, whichever ends first', () => {
    const [free, pro] = CDN_PLANS
    expect(free && itemsOf(free, { requests: 2, gigabytes: 0.016 })).toBe(6250)
    expect(pro && itemsOf(pro, { requests: 1, gigabytes: 0.00005 })).toBe(10e6)
  })

  it('is compared with the list price of the same traffic', () => {
    expect(1000 * payAsYouGo({ requests: 2, gigabytes: 0.016 })).toBeCloseTo(1.362)
  })
})

describe('the cost of 1,000 jobs', () => {
  it('names the usage counter beside the other writes, and the sum of both is that of the operations', () => {
    const lines = costOfThousandJobs({ polls: 8, openSeconds: 120, assumptions })
    const writes = (dollars(lines, 'DynamoDB writes') ?? 0) + (dollars(lines, 'Usage counter') ?? 0)
    expect((writes * 1000) / 0.625).toBeCloseTo(11 + 5 + 7 * 2 + 4 + 2 + 15 + 4)
  })

  it('has deletes beside it, which cost about a cent', () => {
    expect(sumOf(costOfThousandDeletes())).toBeCloseTo(0.0096, 3)
  })
})

describe('the cost of an idle month', () => {
  it('counts what the template of `prod` has', () => {
    const template = synthesizeStack({ settings: stageSettings({ stage: 'prod', console: 'on' }) }).toJSON()
    expect(idleResourcesOf(template.Resources)).toEqual({ ...IDLE_RESOURCES, webAclRules: 0, keys: 0 })
  })

  it('is at most $8 in `prod`, also with the alarm of the front door', () => {
    const frontDoorAlarm = 2 * DOLLARS.alarmMetricMonth
    expect(sumOf(costOfIdleMonth('prod')) + frontDoorAlarm).toBeLessThanOrEqual(8)
  })

  it('has what the settings say of the web ACL of `waf=on`', () => {
    const settings = stageSettings({ stage: 'prod', console: 'on', waf: 'on' })
    const { webAclRules } = idleResourcesOf(synthesizeStack({ settings }).toJSON().Resources)
    const month = DOLLARS.webAclMonth + webAclRules * DOLLARS.webAclRuleMonth
    expect(WEB_ACL_PRICE).toBe(`$${month} a month and $0.60 per million requests`)
  })

  it('is without alarms in `dev`', () => {
    const parts = costOfIdleMonth('dev').map(({ part }) => part)
    expect(parts).not.toContain('Alarms (`prod`)')
    expect(parts).toEqual(expect.arrayContaining(['Secrets', 'Reconcile', 'X-Ray', 'Logs', 'Metrics']))
  })
})

describe('the cost of watching', () => {
  it('is at most $20 for the metrics of ten models and five channels', () => {
    const { config } = shippedConfiguration
    const channels = config.channels.map(({ id }) => id)
    expect(channels).toHaveLength(SHIPPED_CHANNELS)
    const models = Array.from({ length: 10 }, (_, index) => `model-${index}`)
    const emitted = emitEverything(channels, models)
    expect(emitted.size + ROUTE_METRICS).toBe(customMetrics(SHIPPED_CHANNELS))
    expect(customMetrics(SHIPPED_CHANNELS) * DOLLARS.metricMonth).toBeLessThanOrEqual(20)
  })
})

/** API Gateway's detailed metrics of one route: Count, Latency, IntegrationLatency, 4XXError, 5XXError. */
const ROUTE_METRICS = 5

/** The metrics that CloudWatch makes of every measure and fact, of every model on every channel. */
function emitEverything(channels: readonly string[], models: readonly string[]): ReadonlySet<string> {
  const metrics = captureMetrics()
  for (const channel of channels) {
    for (const model of models) {
      measure(Object.fromEntries(MEASURES.map((name) => [name, 1])), { channel, model })
      for (const fact of COUNTED_FACTS) {
        count(fact, { channel, model, reason: 'status' })
      }
    }
  }
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  return new Set(metrics.emitted().map(({ name, dimensions }) => JSON.stringify([name, dimensions])))
}

type Resource = { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> }
type Query = { readonly MetricStat?: unknown }

function idleResourcesOf(resources: Readonly<Record<string, Resource>>) {
  const of = (type: string) => Object.values(resources).filter(({ Type }) => Type === type)
  const metrics = of('AWS::CloudWatch::Alarm').map(({ Properties }) => {
    const queries = Properties.Metrics as readonly Query[] | undefined
    return queries === undefined ? 1 : queries.filter(({ MetricStat }) => MetricStat !== undefined).length
  })
  return {
    alarmMetrics: metrics.reduce((sum, count) => sum + count, 0),
    secrets: of('AWS::SecretsManager::Secret').length,
    dashboards: of('AWS::CloudWatch::Dashboard').length,
    schedules: of('AWS::Scheduler::Schedule').length,
    keys: of('AWS::KMS::Key').length,
    webAclRules: of('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules as readonly unknown[]).length,
  }
}
