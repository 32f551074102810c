import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { adminRequest, type Query } from '../../api/admin-request.ts'
import type { Usage } from '../../api/admin-types.ts'
import type { ApiError } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { daysBetween } from '../../core/time.ts'
import { usageSentence, usageSeries } from '../../core/usage-series.ts'
import { lazy } from '../../shell/lazy.ts'
import { nameOf } from './usage-columns.tsx'
import { UsageTable } from './usage-table.tsx'

const UsageChart = lazy(() => import('./usage-chart.tsx'))

/** The largest page of the API; a month of ten models is two of them. */
const ROWS_PER_PAGE = 200

const PAGES_MAX = 20

type UsageByDayProps = { readonly query: Query; readonly by: string; readonly from: string; readonly to: string }

/** Cost by day as stacked bars, and the same numbers as a table. */
export function UsageByDay({ query, by, from, to }: UsageByDayProps) {
  const [isTable, showTable] = useState(false)
  const result = useQuery<readonly Usage['data'][number][], ApiError>({
    queryKey: ['usage by day', query, by],
    queryFn: ({ signal }) => readDays({ ...query, group_by: `day,${by}` }, signal),
  })
  const days = daysBetween(from, to)
  const points = (result.data ?? []).map((row) => ({ day: String(row.day), name: nameOf(row, by), cost: row.cost }))
  const series = usageSeries(points, days)
  return (
    <section class="card" aria-label="Cost by day">
      <div class="card-head">
        <h2>Cost by day, in credits</h2>
        <Button kind="quiet" onClick={() => showTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </div>
      {result.isPending ? <Skeleton rows={5} label="Loading the chart" /> : null}
      {result.isError ? <Failure error={result.error} onRetry={() => void result.refetch()} /> : null}
      {result.data === undefined ? null : isTable ? (
        <UsageTable series={series} days={days} />
      ) : (
        <ErrorBoundary>
          <UsageChart series={series} days={days} sentence={usageSentence(series, days)} />
        </ErrorBoundary>
      )}
    </section>
  )
}

async function readDays(query: Query, signal: AbortSignal): Promise<readonly Usage['data'][number][]> {
  const rows: Usage['data'][number][] = []
  let after: string | undefined
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const usage = (await adminRequest('/usage', { query: { ...query, limit: ROWS_PER_PAGE, after }, signal })) as Usage
    rows.push(...usage.data)
    if (!usage.has_more || usage.next === null) {
      break
    }
    after = usage.next
  }
  return rows
}
