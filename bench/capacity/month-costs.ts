import { RECONCILE_NEEDS } from '#aws/pipeline-needs.ts'
import { COUNTED_FACTS, metricOfFact } from '#core/telemetry/counted-facts.ts'
import { CHANNEL_METRICS, MEASURES } from '#core/telemetry/measures.ts'
import {
  AUDIT_UNITS,
  COUNTER_UNITS,
  EMPTY_SUMMARY_UNITS,
  RECONCILE_UNITS,
  type SummaryUnits,
  WATCH_UNITS,
} from '../../test/engines/operation-units.ts'
import { DOLLARS, DOLLARS_PER_MILLION } from '../list-prices.ts'
import { type Assumptions, FUNCTION_SECONDS, LOG_KILOBYTES } from './assumptions.ts'
import type { CostLine } from './cost-line.ts'

/** Reconcile's runs in a month of thirty days, one in ten with the recount. */
const RUNS_A_MONTH = 43_200

/** Reads of the switches by an instance that is always busy: one in 15 s. */
const SWITCH_READS_A_MONTH = 172_800

const { writeUnits, readUnits, invocations, scheduledCalls, tracesRecorded } = DOLLARS_PER_MILLION

/** What the template of `prod` has with five channels and the console, and what AWS bills by the month whether used or not. */
export const IDLE_RESOURCES = { alarmMetrics: 59, secrets: 3, dashboards: 1, schedules: 1 } as const

/** Metrics of API Gateway's detailed measuring of one route, billed as custom metrics while it is called. */
const ROUTE_METRICS = 5

/** Seconds in a month of thirty days. */
const SECONDS_A_MONTH = 2_592_000

/** What a month of counting, alerts, audit and switches costs, beside traffic. Counters are in the prices of jobs and chats too. */
export function costOfControl({ budgets, commands }: Assumptions): CostLine[] {
  return [
    month('Usage counters', 'a million settlements, 2 write units each', 1e6 * COUNTER_UNITS.writes * writeUnits),
    month(
      'Alerts',
      `${budgets} budgets, a read unit a minute each`,
      RUNS_A_MONTH * budgets * WATCH_UNITS.reads * readUnits,
    ),
    month('Audit', `${commands} commands, 2 write units each`, commands * AUDIT_UNITS.writes * writeUnits),
    month('Switches', 'one busy instance, a read unit in 15 s', SWITCH_READS_A_MONTH * readUnits),
  ]
}

/** What a stage costs in a month without a request. */
export function costOfIdleMonth(stage: 'prod' | 'dev'): CostLine[] {
  const { alarmMetrics, secrets, dashboards, schedules } = IDLE_RESOURCES
  const { plain, withRecount } = RECONCILE_UNITS
  const reads = RUNS_A_MONTH * (0.9 * plain.reads + 0.1 * withRecount.reads)
  const gigabyteSeconds = RUNS_A_MONTH * FUNCTION_SECONDS.reconcile * (RECONCILE_NEEDS.memoryMegabytes / 1024)
  const inProd: CostLine[] = [
    line(
      'Alarms (`prod`)',
      `${alarmMetrics} metrics looked at, with five channels`,
      alarmMetrics * DOLLARS.alarmMetricMonth,
    ),
  ]
  return [
    ...(stage === 'prod' ? inProd : []),
    line('Secrets', `${secrets} secrets`, secrets * DOLLARS.secretMonth),
    month(
      'Reconcile',
      `43,200 runs, ${plain.reads} read units each, ${withRecount.reads} in each tenth`,
      reads * readUnits + RUNS_A_MONTH * invocations + gigabyteSeconds * DOLLARS.gigabyteSecond * 1e6,
    ),
    month('Schedule', `43,200 calls of ${schedules} schedule`, RUNS_A_MONTH * schedules * scheduledCalls),
    line('Logs', `${LOG_KILOBYTES} KB a run`, ((RUNS_A_MONTH * LOG_KILOBYTES) / 1e6) * DOLLARS.logGigabyte),
    line('Metrics', 'none: a number that is zero is not written', 0),
    line('Dashboard', `${dashboards}, of the account's three free ones with up to 50 metrics; beyond them $3`, 0),
    // Every run is the first request of its second.
    month('X-Ray', 'the runs of Reconcile', RUNS_A_MONTH * tracesRecorded),
    month(
      'Summary of the console',
      `${EMPTY_SUMMARY_UNITS.writes} write unit and ${EMPTY_SUMMARY_UNITS.reads} read units a minute`,
      RUNS_A_MONTH * (EMPTY_SUMMARY_UNITS.writes * writeUnits + EMPTY_SUMMARY_UNITS.reads * readUnits),
    ),
  ]
}

/** Custom metrics that a stage writes when everything that it measures and counts occurs in every hour. Models make none. */
export function customMetrics(channels: number): number {
  const all = new Set<string>([...MEASURES, ...COUNTED_FACTS.map(metricOfFact)])
  return all.size + (channels - 1) * CHANNEL_METRICS.length + ROUTE_METRICS
}

/** What watching a stage costs that is busy in every second of a month, beside what idle alarms cost. */
export function costOfWatching(channels: number): CostLine[] {
  const metrics = customMetrics(channels)
  return [
    line(
      'Metrics',
      `at most ${metrics} metrics, of ${channels} channels and any models`,
      metrics * DOLLARS.metricMonth,
    ),
    month('X-Ray', 'the first request of each second', SECONDS_A_MONTH * tracesRecorded),
    line('Log lines', `a million requests, ${LOG_KILOBYTES} KB each`, LOG_KILOBYTES * DOLLARS.logGigabyte),
  ]
}

/** Dollars a month for the summary of the console when a tenth of the tenants spend something in every minute. */
export function costOfSummary({ busy }: SummaryUnits): number {
  return (RUNS_A_MONTH * (busy.writes * writeUnits + busy.reads * readUnits)) / 1e6
}

function month(part: string, count: string, dollarsTimesMillion: number): CostLine {
  return line(part, count, dollarsTimesMillion / 1e6)
}

function line(part: string, count: string, dollars: number): CostLine {
  return { part, count, dollars }
}
