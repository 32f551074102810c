import { useAdmin } from '../../api/admin-query.ts'
import type { Overview } from '../../api/admin-types.ts'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { FiguresTime } from '../../components/figures-time.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { StaleNotice } from '../../components/stale-notice.tsx'
import { Time } from '../../components/time.tsx'
import { unixSecondsOf } from '../../core/time.ts'
import { TenantFilter, useTenantScope } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import { AttentionList } from './attention-list.tsx'
import { ChannelHealth } from './channel-health.tsx'
import { OverviewStats } from './overview-stats.tsx'
import { RequestsByMinute } from './requests-by-minute.tsx'
import { SpendByDay } from './spend-by-day.tsx'

/** While the page is visible; the summary of all tenants is written each minute. */
const REFRESH_MILLISECONDS = 15_000

/** What goes on: spend, traffic, jobs, and what needs a person. */
export default function OverviewPage() {
  const url = useUrlFilters(['tenant'])
  const tenant = useTenantScope(url)
  const overview = useAdmin('/overview', { query: { tenant }, everyMilliseconds: REFRESH_MILLISECONDS })
  return (
    <Page
      title="Overview"
      lead={overview.data === undefined ? 'What goes on.' : <Lead overview={overview.data} />}
      actions={
        <FilterBar url={url}>
          <TenantFilter url={url} />
        </FilterBar>
      }
    >
      {overview.isError ? <Failure error={overview.error} onRetry={() => void overview.refetch()} /> : null}
      {overview.isPending ? <Skeleton rows={8} label="Loading the overview" /> : null}
      <StaleNotice asOf={asOfSummary(overview.data)} onReload={() => void overview.refetch()} />
      {overview.data === undefined ? null : <Content overview={overview.data} />}
    </Page>
  )
}

/** The overview of one tenant is read when it is asked for, and not summed before. */
function asOfSummary(overview: Overview | undefined): number | null {
  return overview?.tenant === null ? unixSecondsOf(overview.as_of) : null
}

function Lead({ overview }: { readonly overview: Overview }) {
  return (
    <>
      {overview.tenant?.name ?? 'All tenants'}, as of <Time at={overview.as_of} />.
    </>
  )
}

function Content({ overview }: { readonly overview: Overview }) {
  const { spend } = overview
  return (
    <>
      <AttentionList attention={overview.attention} />
      <OverviewStats overview={overview} />
      {spend.left_out === null ? null : (
        <p class="callout callout-warn">
          <span>Left out: {spend.left_out}.</span>
        </p>
      )}
      {spend.today === null ? null : <SpendByDay days={spend.days} tenant={overview.tenant?.id} />}
      {overview.traffic === null ? null : <RequestsByMinute minutes={overview.traffic.minutes} />}
      {overview.channels.length === 0 ? null : (
        <>
          <ChannelHealth channels={overview.channels} />
          <FiguresTime from={overview.figures_from} />
        </>
      )}
    </>
  )
}
