import { CloudWatchClient, type MetricDataQuery, paginateGetMetricData } from '@aws-sdk/client-cloudwatch'
import {
  type AllFigures,
  type ChannelFigures,
  type ClientTraffic,
  FAILURE_MEASURES,
  type FactMetric,
  FIRST_BYTE_MEASURE,
  type Measure,
  numberOfErrorClass,
  REQUEST_MEASURES,
  SERVICE_NAME,
  UPSTREAM_ERROR_CLASSES,
  type UpstreamErrorClass,
} from '#core/measures.ts'

const MINUTE_MILLISECONDS = 60_000

/** The limit of GetMetricData. */
const QUERIES_MAX = 500

/** One metric by minutes: of a channel, or else of the whole service. */
export type SeriesQuery = {
  /** What the caller finds the values by. */
  readonly name: string
  readonly channel?: string
  readonly metric: Measure | FactMetric
  readonly stat: string
}

/** Values by the begins of their minutes, in Unix milliseconds; minutes without a value are left out. */
export type Series = ReadonlyMap<number, number>

type Period = { readonly namespace: string; readonly minutes: number; readonly nowMilliseconds: number }

/** Reads metrics of the last minutes, by the names of their queries. @throws the error of CloudWatch. */
export async function readSeries(
  queries: readonly SeriesQuery[],
  { namespace, minutes, nowMilliseconds }: Period,
): Promise<ReadonlyMap<string, Series>> {
  const client = new CloudWatchClient({})
  const EndTime = new Date(Math.floor(nowMilliseconds / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS)
  const StartTime = new Date(EndTime.getTime() - minutes * MINUTE_MILLISECONDS)
  const values = new Map<string, Map<number, number>>()
  for (let first = 0; first < queries.length; first += QUERIES_MAX) {
    const batch = queries.slice(first, first + QUERIES_MAX)
    const MetricDataQueries = batch.map((query, index) => toDataQuery(query, { namespace, index }))
    for await (const { MetricDataResults = [] } of paginateGetMetricData(
      { client },
      { MetricDataQueries, StartTime, EndTime },
    )) {
      for (const { Id = '', Timestamps = [], Values = [] } of MetricDataResults) {
        const query = batch[Number(Id.slice(1))]
        if (query !== undefined) {
          const series = values.get(query.name) ?? new Map<number, number>()
          Timestamps.forEach((time, index) => void series.set(time.getTime(), Values[index] ?? 0))
          values.set(query.name, series)
        }
      }
    }
  }
  return values
}

function toDataQuery(
  { channel, metric, stat }: SeriesQuery,
  { namespace, index }: { readonly namespace: string; readonly index: number },
): MetricDataQuery {
  return {
    // An id begins with a lower-case letter.
    Id: `q${index}`,
    MetricStat: {
      Metric: {
        Namespace: namespace,
        MetricName: metric,
        Dimensions: [
          { Name: 'service', Value: SERVICE_NAME },
          ...(channel === undefined ? [] : [{ Name: 'channel', Value: channel }]),
        ],
      },
      Period: MINUTE_MILLISECONDS / 1000,
      Stat: stat,
    },
  }
}

/** Minutes that a chart shows; a metric costs the same however many there are. */
const MINUTES = 30

/** A channel with traffic has figures within this time. */
const RECENT_MINUTES = 10

/** Breakers that opened in this time are told. */
const OPENED_MINUTES = 60

/** CloudWatch is one to three minutes behind, so the values of newer minutes are still arriving. */
const ARRIVING_MINUTES = 3

type Values = ReadonlyMap<string, Series>
type ChannelSeries = 'calls' | 'p50' | 'p95' | 'opened' | UpstreamErrorClass

/**
 * Figures of channels in the newest minute that CloudWatch has whole and in which a channel was called, if there is one in the last ten;
 * and the traffic of clients in the newest whole minute. Needs `cloudwatch:GetMetricData`, which costs $0.01 for a thousand metrics:
 * eleven for a channel, and seven.
 * @param namespace of the metrics of the stage.
 */
export async function readCloudWatchFigures(
  namespace: string,
  channels: readonly string[],
  nowMilliseconds: number,
): Promise<AllFigures> {
  const queries = [...channels.flatMap(channelQueries), ...TRAFFIC_QUERIES]
  const values = await readSeries(queries, { namespace, minutes: OPENED_MINUTES, nowMilliseconds })
  const newest = Math.floor(nowMilliseconds / MINUTE_MILLISECONDS - ARRIVING_MINUTES) * MINUTE_MILLISECONDS
  const recentFrom = nowMilliseconds - (RECENT_MINUTES + 1) * MINUTE_MILLISECONDS
  const called = channels.flatMap((channel) => [...(values.get(nameOf(channel, 'calls'))?.keys() ?? [])])
  const complete = called.filter((minute) => minute <= newest && minute >= recentFrom)
  const minuteFrom = complete.length === 0 ? undefined : Math.max(...complete)
  const openings = (channel: string) =>
    [...(values.get(nameOf(channel, 'opened'))?.values() ?? [])].reduce((sum, count) => sum + count, 0)
  return {
    minuteFrom,
    byChannel: new Map(channels.map((channel) => [channel, figuresOf(channel, values, minuteFrom)])),
    breakers: undefined,
    breakerOpenings: new Map(channels.map((channel) => [channel, openings(channel)])),
    traffic: trafficOf(values, newest),
  }
}

function figuresOf(channel: string, values: Values, minuteFrom: number | undefined): ChannelFigures {
  const at = (name: ChannelSeries) =>
    minuteFrom === undefined ? undefined : values.get(nameOf(channel, name))?.get(minuteFrom)
  const errors = UPSTREAM_ERROR_CLASSES.map((name) => [name, at(name) ?? 0] as const)
  return {
    calls: at('calls') ?? 0,
    errors: Object.fromEntries(errors.filter(([, count]) => count > 0)),
    p50Milliseconds: at('p50') ?? null,
    p95Milliseconds: at('p95') ?? null,
  }
}

/** A minute without a value had no traffic. */
function trafficOf(values: Values, minuteFrom: number): ClientTraffic {
  const sumAt = (names: readonly string[], at: number) =>
    names.reduce((sum, name) => sum + (values.get(name)?.get(at) ?? 0), 0)
  const countsAt = (at: number) => ({
    requests: sumAt(REQUEST_MEASURES, at),
    errors: sumAt(FAILURE_MEASURES, at),
  })
  const first = minuteFrom - (MINUTES - ARRIVING_MINUTES - 1) * MINUTE_MILLISECONDS
  return {
    minuteFrom,
    ...countsAt(minuteFrom),
    p50Milliseconds: values.get('first byte p50')?.get(minuteFrom) ?? null,
    p95Milliseconds: values.get('first byte p95')?.get(minuteFrom) ?? null,
    minutes: Array.from({ length: MINUTES - ARRIVING_MINUTES }, (_, index) => {
      const at = first + index * MINUTE_MILLISECONDS
      return { at, ...countsAt(at) }
    }),
  }
}

const COUNTED = new Set<Measure>([...REQUEST_MEASURES, ...FAILURE_MEASURES])

const TRAFFIC_QUERIES: readonly SeriesQuery[] = [
  ...[...COUNTED].map((metric) => ({ name: metric, metric, stat: 'Sum' })),
  ...['p50', 'p95'].map((stat) => ({ name: `first byte ${stat}`, metric: FIRST_BYTE_MEASURE, stat })),
]

function channelQueries(channel: string): readonly SeriesQuery[] {
  const query = (name: ChannelSeries, metric: SeriesQuery['metric'], stat: string) => ({
    ...{ name: nameOf(channel, name), channel, metric, stat },
  })
  return [
    query('calls', 'upstream_milliseconds', 'SampleCount'),
    query('p50', 'upstream_milliseconds', 'p50'),
    query('p95', 'upstream_milliseconds', 'p95'),
    ...UPSTREAM_ERROR_CLASSES.map((name) => query(name, 'upstream_error', countOfNumber(numberOfErrorClass(name)))),
    query('opened', 'breaker_opened', 'Sum'),
  ]
}

/** Counts the values that are one number: CloudWatch's trimmed count, of the values above one bound and up to another. */
function countOfNumber(value: number): string {
  return `TC(${value - 0.5}:${value + 0.5})`
}

function nameOf(channel: string, name: ChannelSeries): string {
  return `${name} ${channel}`
}
