import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { adminPages } from '../../api/admin-pages.ts'
import type { Query } from '../../api/admin-request.ts'
import type { Usage } from '../../api/admin-types.ts'
import type { ApiError } from '../../api/api-error.ts'
import { inHand } from '../../api/list-of.ts'
import { Button } from '../../components/button.tsx'
import { ExportButton } from '../../components/export-button.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import type { ExportColumn } from '../../core/csv-export.ts'
import { leftOutOf } from '../../core/list-pages.ts'
import { counted } from '../../core/plural.ts'
import { daysBetween } from '../../core/time.ts'
import { usageSentence, usageSeries } from '../../core/usage-series.ts'
import { lazy } from '../../shell/lazy.ts'
import { useTenantNames } from '../../shell/tenant-scope.tsx'
import { nameOf, usageColumns } from './usage-columns.tsx'
import { UsageTable } from './usage-table.tsx'

const UsageChart = lazy(() => {
  ensureLanguageTag()
  return import('./usage-chart.tsx')
})

/** Some machines have locales such as `en-US@posix`, with which the library of the chart throws at its import. */
function ensureLanguageTag(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en' })
  }
}

type UsageByDayProps = {
  readonly query: Query & { readonly tenant: string | undefined }
  readonly by: string
  readonly from: string
  readonly to: string
}

type UsageRow = Usage['rows'][number]

type Read = { readonly rows: readonly UsageRow[]; readonly leftOut: string | null }

/** Cost by day as stacked bars, and the same numbers as a table; keys of one name are one series. The file has every group, also those that the chart draws together. */
export function UsageByDay({ query, by, from, to }: UsageByDayProps) {
  const [isTable, setTable] = useState(false)
  const [count, setCount] = useState(0)
  const result = useQuery<Read, ApiError>({
    queryKey: ['usage by day', query, by],
    queryFn: ({ signal }) => readDays({ ...query, group_by: `day,${by}` }, signal, setCount),
    // Each page has its own tries.
    retry: false,
  })
  const tenantName = useTenantNames()
  const days = daysBetween(from, to)
  const { rows = [], leftOut = null } = result.data ?? {}
  const points = rows.map((row) => ({ day: String(row.day), name: nameOf(row, by, tenantName), cost: row.cost }))
  const series = usageSeries(points, days)
  return (
    <section class="card" aria-label="Cost by day">
      <div class="card-head">
        <h2>Cost by day, in credits</h2>
        <span class="toolbar">
          <Button kind="quiet" onClick={() => setTable(!isTable)}>
            {isTable ? 'Show as chart' : 'Show as table'}
          </Button>
          <ExportButton
            columns={columnsOf(by, tenantName)}
            pages={() => inHand(rows, leftOut)}
            name={['usage', 'by', 'day', query.tenant, by, from, to]}
            blockedBecause={rows.length === 0 ? 'There are no rows to export' : undefined}
          />
        </span>
      </div>
      {result.isPending ? <Skeleton rows={5} label="Loading the chart" /> : null}
      {result.isPending && count > 0 ? <p class="hint">{counted(count, 'row')} so far</p> : null}
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

async function readDays(query: Query, signal: AbortSignal, onProgress: (count: number) => void): Promise<Read> {
  const rows: UsageRow[] = []
  const notes: { readonly left_out: string | null }[] = []
  for await (const page of adminPages<UsageRow>('/usage', query, signal)) {
    rows.push(...page.data)
    notes.push({ left_out: page.left_out ?? null })
    onProgress(rows.length)
  }
  return { rows, leftOut: leftOutOf(notes) }
}

function columnsOf(by: string, tenantName: (id: string) => string): readonly ExportColumn<UsageRow>[] {
  return [{ title: 'Day', value: ({ day }) => day }, ...usageColumns(by, tenantName)]
}
