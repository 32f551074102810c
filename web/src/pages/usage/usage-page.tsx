import { useAdminList } from '../../api/admin-query.ts'
import { useMay } from '../../api/session.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { StaleNotice } from '../../components/stale-notice.tsx'
import { lastDays } from '../../core/time.ts'
import { usageGroup, usageGroups } from '../../core/usage-group.ts'
import { TenantFilter, useTenantNames, useTenantScope } from '../../shell/tenant-scope.tsx'
import { unixSeconds } from '../../state/clock.ts'
import { type UrlFilters, useUrlFilters } from '../../state/url-filters.ts'
import { UsageByDay } from './usage-by-day.tsx'
import { usageColumns } from './usage-columns.tsx'

const DAYS_SHOWN = 30

/** The summary of all tenants is written each minute. */
const REFRESH_MILLISECONDS = 60_000

/** What was used, by day and by model, key or operation. */
export default function UsagePage() {
  const asked = useUrlFilters(['tenant', 'from', 'to', 'by'])
  const tenant = useTenantScope(asked)
  const by = usageGroup(asked.filters.by, tenant)
  const url = withGroup(asked, by, tenant)
  const days = lastDays(DAYS_SHOWN, unixSeconds())
  const from = url.filters.from ?? days[0] ?? ''
  const to = url.filters.to ?? days.at(-1) ?? ''
  const isOfAll = useMay('finance') && tenant === undefined
  const tenantName = useTenantNames()
  const query = { tenant, from, to }
  const list = useAdminList('/usage', { query: { ...query, group_by: by }, everyMilliseconds: REFRESH_MILLISECONDS })
  return (
    <Page title="Usage" lead="Settled requests and jobs, by the UTC day of their settlement.">
      <FilterBar url={url}>
        <TenantFilter url={url} />
        <SelectFilter url={url} name="by" label="Group by" any="Model" options={usageGroups(tenant).slice(1)} />
        <TextFilter url={url} name="from" label="From (UTC)" type="date" />
        <TextFilter url={url} name="to" label="To (UTC)" type="date" />
      </FilterBar>
      {isOfAll ? <StaleNotice asOf={list.asOf} onReload={list.reload} /> : null}
      <UsageByDay query={query} by={by} from={from} to={to} />
      <DataTable
        caption={`Usage by ${by}`}
        columns={usageColumns(by, tenantName)}
        list={list}
        rowKey={(row) => String(row[by])}
        empty={<Empty title="Nothing was used in these days">The first settled request or job shows here.</Empty>}
        onClearFilters={url.clear}
        exportName={['usage', tenant, by, from, to]}
      />
    </Page>
  )
}

/** The filters with a dimension that this usage has, so that `by=tenant` does not outlive the choice of a tenant. */
function withGroup(url: UrlFilters, by: string, tenant: string | undefined): UrlFilters {
  const { by: _, ...others } = url.filters
  return {
    ...url,
    filters: by === 'model' ? others : { ...others, by },
    change: (changes) => {
      const isLost = usageGroup(by, (changes.tenant ?? tenant) || undefined) !== by
      url.change({ ...(isLost ? { by: '' } : {}), ...changes })
    },
  }
}
