import { CloudWatchClient, type MetricDataQuery, paginateGetMetricData } from '@aws-sdk/client-cloudwatch'
import type { CountedFact } from '#core/telemetry/counted-facts.ts'
import type { Measure } from '#core/telemetry/measures.ts'
import {
  UPSTREAM_ERROR_CLASSES,
  type UpstreamErrorClass,
  upstreamErrorMeasure,
} from '#core/telemetry/upstream-error-class.ts'
import type { AllFigures, ChannelFigures, MinuteFigures } from './channel-figures.ts'

/** CloudWatch is one to three minutes behind; a channel with traffic has figures within this time. */
const MINUTES = 10
const MINUTE_MILLISECONDS = 60_000

/** Figures of the newest minutes are still arriving. */
const ARRIVING_MINUTES = 2

/** The limit of GetMetricData. */
const QUERIES_MAX = 500

/** The value of the dimension `service` of every metric of the functions (lib/aws/service-metrics.ts). */
const SERVICE_NAME = 'reelgate'

type Series = { readonly channel: string; readonly name: 'calls' | 'p50' | 'p95' | 'opened' | UpstreamErrorClass }
type Query = Series & { readonly measure: Measure | CountedFact; readonly stat: string }

/**
 * The newest minute of which CloudWatch has all figures and in which a channel was called. Needs `cloudwatch:GetMetricData`, which
 * costs $0.01 for a thousand metrics: eleven for a channel.
 * @param namespace of the metrics of the stage.
 */
export async function readCloudWatchFigures(
  namespace: string,
  channels: readonly string[],
  nowMilliseconds: number,
): Promise<AllFigures> {
  const values = await readSeries(namespace, channels.flatMap(queriesOf), nowMilliseconds)
  const minutes = [...values.entries()].flatMap(([name, series]) =>
    name.startsWith('calls ') ? [...series.keys()] : [],
  )
  const complete = minutes.filter((minute) => minute <= nowMilliseconds - ARRIVING_MINUTES * MINUTE_MILLISECONDS)
  const minuteFrom = complete.length === 0 ? undefined : Math.max(...complete)
  const at = (series: Series) => (minuteFrom === undefined ? undefined : values.get(keyOf(series))?.get(minuteFrom))
  return {
    minuteFrom,
    byChannel: new Map(channels.map((channel) => [channel, figuresOf(channel, at)])),
    breakers: undefined,
    breakerOpenings: new Map(
      channels.map((channel) => [channel, sumOf(values.get(keyOf({ channel, name: 'opened' })))]),
    ),
    minutes: minutesOf(values),
  }
}

function sumOf(series: ReadonlyMap<number, number> = new Map()): number {
  return [...series.values()].reduce((sum, value) => sum + value, 0)
}

/** Calls and errors of all channels, minute by minute, oldest first. */
function minutesOf(values: ReadonlyMap<string, ReadonlyMap<number, number>>): readonly MinuteFigures[] {
  const minutes = new Map<number, { calls: number; errors: number }>()
  for (const [name, series] of values) {
    for (const [at, value] of /^(?:p50|p95|opened) /.test(name) ? [] : series) {
      const { calls, errors } = minutes.get(at) ?? { calls: 0, errors: 0 }
      const isCalls = name.startsWith('calls ')
      minutes.set(at, { calls: calls + (isCalls ? value : 0), errors: errors + (isCalls ? 0 : value) })
    }
  }
  return [...minutes].toSorted(([left], [right]) => left - right).map(([at, figures]) => ({ at, ...figures }))
}

function figuresOf(channel: string, at: (series: Series) => number | undefined): ChannelFigures {
  const errors = UPSTREAM_ERROR_CLASSES.map((name) => [name, at({ channel, name }) ?? 0] as const)
  return {
    calls: at({ channel, name: 'calls' }) ?? 0,
    errors: Object.fromEntries(errors.filter(([, count]) => count > 0)),
    p50Milliseconds: at({ channel, name: 'p50' }) ?? null,
    p95Milliseconds: at({ channel, name: 'p95' }) ?? null,
  }
}

function queriesOf(channel: string): Query[] {
  return [
    { channel, name: 'calls', measure: 'upstream_milliseconds', stat: 'SampleCount' },
    { channel, name: 'p50', measure: 'upstream_milliseconds', stat: 'p50' },
    { channel, name: 'p95', measure: 'upstream_milliseconds', stat: 'p95' },
    ...UPSTREAM_ERROR_CLASSES.map((name) => ({ channel, name, measure: upstreamErrorMeasure(name), stat: 'Sum' })),
    { channel, name: 'opened', measure: 'breaker_opened', stat: 'Sum' },
  ]
}

function keyOf({ channel, name }: Series): string {
  return `${name} ${channel}`
}

/** Values by series and minute. */
async function readSeries(
  namespace: string,
  queries: readonly Query[],
  nowMilliseconds: number,
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const client = new CloudWatchClient({})
  const EndTime = new Date(Math.floor(nowMilliseconds / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS)
  const StartTime = new Date(EndTime.getTime() - MINUTES * MINUTE_MILLISECONDS)
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
          const series = values.get(keyOf(query)) ?? new Map<number, number>()
          Timestamps.forEach((time, index) => void series.set(time.getTime(), Values[index] ?? 0))
          values.set(keyOf(query), series)
        }
      }
    }
  }
  return values
}

function toDataQuery(
  { channel, measure, stat }: Query,
  { namespace, index }: { readonly namespace: string; readonly index: number },
): MetricDataQuery {
  return {
    // An id begins with a lower-case letter.
    Id: `q${index}`,
    MetricStat: {
      Metric: {
        Namespace: namespace,
        MetricName: measure,
        Dimensions: [
          { Name: 'service', Value: SERVICE_NAME },
          { Name: 'channel', Value: channel },
        ],
      },
      Period: MINUTE_MILLISECONDS / 1000,
      Stat: stat,
    },
  }
}
