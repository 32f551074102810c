import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { COUNTED_FACTS, MEASURES } from '#core/measures.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { ASSUMPTIONS } from '../../bench/capacity/assumptions.ts'
import { QUOTED_SECTIONS, readCapacityCommand, withQuotedSections } from '../../bench/capacity/command.ts'
import {
  CDN_PLANS,
  type CostLine,
  chatLoad,
  costOfIdleMonth,
  costOfMillionChats,
  costOfMillionWebChats,
  costOfThousandDeletes,
  costOfThousandJobs,
  customMetrics,
  IDLE_RESOURCES,
  itemsOf,
  payAsYouGo,
  sumOf,
} from '../../bench/capacity/costs.ts'
import { courseOf, demandOfChats, demandOfJobs } from '../../bench/capacity/demand.ts'
import {
  CHAT_SECONDS,
  chatComparison,
  DEPLOYED_MEGABYTES,
  lambdaDollars,
  reportCapacity,
  SHIPPED_CHANNELS,
} from '../../bench/capacity/report.ts'
import { DOLLARS } from '../../bench/list-prices.ts'
import { P1 } from '../../bench/poll-loop.ts'
import { WEB_ACL_PRICE } from '../../lib/config/context-settings.ts'
import { captureMetrics } from '../engines/emitted-metrics.ts'
import { RELAYED_UNITS, RELAYED_WRITES } from '../engines/operation-units.ts'
import { shippedConfiguration, stageSettings, synthesizeStack } from '../stack/synthesize-stack.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const assumptions = ASSUMPTIONS
const dollars = (lines: readonly CostLine[], part: string) => lines.find((line) => line.part === part)?.dollars ?? 0

describe('npm run capacity', () => {
  const { options } = readCapacityCommand([]) ?? {}

  it.each(Object.entries(QUOTED_SECTIONS))(
    'prints the figures that %s quotes (else: npm run capacity -- --write)',
    (path, names) => {
      const page = readFileSync(join(ROOT, path), 'utf8')
      expect(options && page === withQuotedSections(page, names, reportCapacity(options))).toBe(true)
    },
  )

  it('writes pages with the defaults only', () => {
    expect(readCapacityCommand(['--write'])).toMatchObject({
      isWriting: true,
      options: { assumptions: { tenants: 20 } },
    })
    expect(() => readCapacityCommand(['--write', '--jobs', '5'])).toThrow('--write takes no other option')
    expect(() => withQuotedSections('', ['nothing'], [])).toThrow('the report has no section "nothing"')
  })

  it('accepts every assumption and limit, and names a wrong one', () => {
    const given = ['--event-bytes', '100', '--web-rate-factor', '2', '--p95', '200', '--limit', 'start-execution=900']
    expect(readCapacityCommand(given)?.options).toMatchObject({
      assumptions: { eventBytes: 100, webRateFactor: 2, p95: 200, downloads: 2 },
      limits: { 'start-execution': 900, 'open-executions': 1_000_000 },
    })
    expect(() => readCapacityCommand(['--event-bytes', '0'])).toThrow('--event-bytes 0: use a number above 0')
    expect(() => readCapacityCommand(['--limit', 'polls=1'])).toThrow('there is no polls')
    expect(() => readCapacityCommand(['--provider', 'p3'])).toThrow('use p1 or p2')
    expect(() => readCapacityCommand(['--p95', '80'])).toThrow('use more than the median')
  })
})

describe('costs of chats', () => {
  const web = { chatSeconds: 4, atOnce: 8, assumptions } as const

  it('halve their Lambda time with the memory of the function', () => {
    const timeOf = (memoryMegabytes: number) =>
      dollars(costOfMillionChats({ chatSeconds: 4, assumptions, memoryMegabytes }), 'Lambda time')
    expect(timeOf(1024)).toBeCloseTo(53.3, 0)
    expect(timeOf(512) / timeOf(1024)).toBeCloseTo(0.5, 2)
  })

  it('of a Web Function have CPU for the work alone, between Lambda’s price of a vCPU and the factor of it', () => {
    const cpu = (end: 'low' | 'high') => dollars(costOfMillionWebChats({ ...web, end }), 'CPU time')
    expect(cpu('low')).toBeCloseTo(chatLoad(4, assumptions).cpuSeconds * 23.03, 1)
    expect(cpu('high') / cpu('low')).toBeCloseTo(assumptions.webRateFactor)
  })

  it('of a Web Function share the memory of an environment', () => {
    const memory = (atOnce: number) => dollars(costOfMillionWebChats({ ...web, atOnce, end: 'high' }), 'Memory')
    expect(memory(1)).toBeCloseTo(4 * 2 * 13.3334, 1)
    expect(memory(64)).toBeCloseTo(memory(1) / 64, 3)
  })

  it('of a Web Function write less for settlements of one tenant that come together', () => {
    const writes = (atOnce: number) =>
      dollars(costOfMillionWebChats({ ...web, atOnce, end: 'low' }), 'DynamoDB writes') / 0.625
    expect(writes(1)).toBe(14)
    // 16 chats a second, four in a quarter of a second: 6 to reserve each, 14 to settle four.
    expect(writes(64)).toBeCloseTo(6 + 14 / 4)
  })

  it('name from how many chats at once the whole range of a Web Function is below the functions', () => {
    const last = chatComparison(assumptions).trim().split('\n').at(-1) ?? ''
    for (const [index, found] of last.split('|').slice(2, -1).map(Number).entries()) {
      const chatSeconds = CHAT_SECONDS[index] ?? 0
      const functions = lambdaDollars({ chatSeconds, memoryMegabytes: DEPLOYED_MEGABYTES, assumptions })
      const highest = (atOnce: number) =>
        sumOf(costOfMillionWebChats({ chatSeconds, atOnce, end: 'high', assumptions }))
      expect([highest(found) < functions, highest(found - 1) < functions]).toEqual([true, false])
    }
  })

  it('of a plan of CloudFront end with its requests or with its data', () => {
    const [free, pro] = CDN_PLANS
    expect(itemsOf(free, { requests: 2, gigabytes: 0.016 })).toBe(6250)
    expect(itemsOf(pro, { requests: 1, gigabytes: 0.00005 })).toBe(10e6)
    expect(1000 * payAsYouGo({ requests: 2, gigabytes: 0.016 })).toBeCloseTo(1.362)
  })
})

describe('costs of jobs', () => {
  it('have the writes of their operations, with the usage counter in a line of its own', () => {
    const lines = costOfThousandJobs({ polls: 8, openSeconds: 120, assumptions })
    const writes = dollars(lines, 'DynamoDB writes') + dollars(lines, 'Usage counter')
    expect((writes * 1000) / 0.625).toBeCloseTo(11 + 5 + 7 * 2 + 4 + 2 + 15 + 4)
  })

  it('have deletes beside them, which cost about a cent', () => {
    expect(sumOf(costOfThousandDeletes())).toBeCloseTo(0.0096, 3)
  })
})

describe('costs of an idle month', () => {
  it('count what the template of `prod` has', () => {
    const template = synthesizeStack({ settings: stageSettings({ stage: 'prod', console: 'on' }) }).toJSON()
    expect(idleResourcesOf(template.Resources)).toEqual({ ...IDLE_RESOURCES, webAclRules: 0, keys: 0 })
  })

  it('are at most $8 in `prod`, also with the alarm of the front door', () => {
    const frontDoorAlarm = 2 * DOLLARS.alarmMetricMonth
    expect(sumOf(costOfIdleMonth('prod')) + frontDoorAlarm).toBeLessThanOrEqual(8)
  })

  it('agree with what the settings say of the web ACL of `waf=on`', () => {
    const settings = stageSettings({ stage: 'prod', console: 'on', waf: 'on' })
    const { webAclRules } = idleResourcesOf(synthesizeStack({ settings }).toJSON().Resources)
    const month = DOLLARS.webAclMonth + webAclRules * DOLLARS.webAclRuleMonth
    expect(WEB_ACL_PRICE).toBe(`$${month} a month and $0.60 per million requests`)
  })

  it('have no alarms in `dev`', () => {
    const parts = costOfIdleMonth('dev').map(({ part }) => part)
    expect(parts).not.toContain('Alarms (`prod`)')
    expect(parts).toEqual(expect.arrayContaining(['Secrets', 'Reconcile', 'X-Ray', 'Logs', 'Metrics']))
  })
})

describe('costs of watching', () => {
  it('are at most $20 for the metrics of ten models and five channels', () => {
    const channels = shippedConfiguration.config.channels.map(({ id }) => id)
    expect(channels).toHaveLength(SHIPPED_CHANNELS)
    const models = Array.from({ length: 10 }, (_, index) => `model-${index}`)
    expect(emitEverything(channels, models).size + ROUTE_METRICS).toBe(customMetrics(SHIPPED_CHANNELS))
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

function idleResourcesOf(resources: Readonly<Record<string, Resource>>) {
  const of = (type: string) => Object.values(resources).filter(({ Type }) => Type === type)
  const metrics = of('AWS::CloudWatch::Alarm').map(({ Properties }) => {
    const queries = Properties.Metrics as readonly { readonly MetricStat?: unknown }[] | undefined
    return queries === undefined ? 1 : queries.filter(({ MetricStat }) => MetricStat !== undefined).length
  })
  return {
    alarmMetrics: metrics.reduce((sum, each) => sum + each, 0),
    secrets: of('AWS::SecretsManager::Secret').length,
    dashboards: of('AWS::CloudWatch::Dashboard').length,
    schedules: of('AWS::Scheduler::Schedule').length,
    keys: of('AWS::KMS::Key').length,
    webAclRules: of('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules as readonly unknown[]).length,
  }
}

describe('courseOf', () => {
  const channel = { ...P1, poll: { requests_per_second: 15 } }

  it('keeps a job open for its generation, its lag and what comes before and after', () => {
    const { openSeconds, lag } = courseOf({ channel: P1, openJobs: 0, assumptions })
    const meanGeneration = 90 * Math.exp(0.5 * (Math.log(240 / 90) / 1.645) ** 2)
    expect((1 + meanGeneration + lag + 2) / openSeconds).toBeCloseTo(1, 1)
  })

  it('finds videos later when more jobs share the polls of an account', () => {
    const [few, many] = [10, 1000].map((openJobs) => courseOf({ channel, openJobs, assumptions }))
    expect(many?.lag).toBeGreaterThan(2 * (few?.lag ?? 0))
    expect(many?.polls).toBeLessThan(few?.polls ?? 0)
  })
})

describe('demandOfJobs', () => {
  it('multiplies the jobs of a second by the units of their operations', () => {
    const course = { polls: 6, openSeconds: 100, lag: 0, lagP95: 0, looks: 1, lateLooks: 0 }
    const demand = demandOfJobs({ openJobs: 100, accounts: 1, course, assumptions })
    expect(demand).toMatchObject({
      'state-transitions': 6 + 3 * 6,
      'start-execution': 1,
      'api-requests': 11,
      'item-transactions': 2,
      // Each operation of a job, five polls without a result, and a look of Reconcile.
      'table-writes': 11 + 5 + 4 + 2 + 15 + 4 + 5 * 2 + 3,
    })
  })
})

describe('demandOfChats', () => {
  it('names the balance first, with twice the transactions of a usage counter', () => {
    expect(demandOfChats(10, assumptions)).toMatchObject({
      'item-transactions': 20,
      'counter-transactions': 10,
      'hold-transactions': 0.5,
      'hold-partition-writes': 40,
      'counter-partition-writes': 20,
      'ledger-partition-writes': 20,
      'lambda-concurrency': 40,
      'table-writes': 140,
    })
    expect(demandOfChats(0.1, assumptions)).toMatchObject({ 'hold-transactions': 0.2 })
  })

  it('divides all units of a request alone, but for the check of its key', () => {
    const { hold, balance, ledger, counter } = RELAYED_WRITES
    expect(hold + balance + ledger + counter).toBe(RELAYED_UNITS.writes - 2)
  })
})
