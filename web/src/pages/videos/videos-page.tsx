import { useEffect, useState } from 'preact/hooks'
import { useAdmin, useAdminList } from '../../api/admin-query.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { videoUrl } from '../../core/console-url.ts'
import type { Filters } from '../../core/filters.ts'
import { endOfDay, startOfDay } from '../../core/time.ts'
import { NeedsTenant } from '../../shell/needs-tenant.tsx'
import { TenantFilter } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import { isOpen, videoColumns } from './video-columns.tsx'

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'cancelled', 'expired'] as const

/** While a job of the first page is open, and the page is visible. */
const REFRESH_MILLISECONDS = 5_000

/** The video jobs of a tenant, newest first. */
export default function VideosPage() {
  const url = useUrlFilters(['tenant', 'status', 'model', 'from', 'to'])
  const known = useAdmin('/models')
  const models = (known.data?.models ?? []).filter(({ kind }) => kind === 'video').map(({ id }) => [id, id] as const)
  return (
    <Page title="Videos" lead="Jobs, newest first. The list follows open jobs by itself.">
      <FilterBar url={url}>
        <TenantFilter url={url} any="Choose a tenant" />
        <SelectFilter
          url={url}
          name="status"
          label="Status"
          any="Every status"
          options={STATUSES.map((status) => [status, status])}
        />
        <SelectFilter url={url} name="model" label="Model" any="Every model" options={models} />
        <TextFilter url={url} name="from" label="From (UTC)" type="date" />
        <TextFilter url={url} name="to" label="To (UTC)" type="date" />
      </FilterBar>
      <NeedsTenant url={url}>
        {(tenant) => <VideosOfTenant key={tenant} tenant={tenant} filters={url.filters} onClear={url.clear} />}
      </NeedsTenant>
    </Page>
  )
}

type VideosOfTenantProps = {
  readonly tenant: string
  readonly filters: Filters
  readonly onClear: (() => void) | undefined
}

function VideosOfTenant({ tenant, filters, onClear }: VideosOfTenantProps) {
  const [hasOpen, setHasOpen] = useState(false)
  const { status, model, from = '', to = '' } = filters
  const list = useAdminList('/videos', {
    query: {
      tenant,
      status,
      model,
      created_after: startOfDay(from),
      created_before: endOfDay(to),
    },
    everyMilliseconds: hasOpen ? REFRESH_MILLISECONDS : undefined,
  })
  const isAnyOpen = list.rows.some(isOpen)
  useEffect(() => setHasOpen(isAnyOpen), [isAnyOpen])
  return (
    <DataTable
      caption="Videos"
      columns={videoColumns()}
      list={list}
      rowKey={({ id }) => id}
      href={({ id }) => videoUrl(id, tenant)}
      empty={
        <Empty title="There is no video yet">
          <a class="button button-primary" href={`/console/playground?tenant=${encodeURIComponent(tenant)}`}>
            Create one in the playground
          </a>
        </Empty>
      }
      onClearFilters={onClear}
      exportName={['videos', tenant, status]}
    />
  )
}
