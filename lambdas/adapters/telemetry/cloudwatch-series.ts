import { CloudWatchClient, type MetricDataQuery, paginateGetMetricData } from '@aws-sdk/client-cloudwatch'
import type { FactMetric, Measure } from '#core/measures.ts'

const MINUTE_MILLISECONDS = 60_000

/** The limit of GetMetricData. */
const QUERIES_MAX = 500

/** The value of the dimension `service` of every metric of the functions (lib/stack/metrics.ts). */
const SERVICE_NAME = 'reelgate'

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
