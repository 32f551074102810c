import { useAdminList } from '../../api/admin-query.ts'
import { useMay } from '../../api/session.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { ledgerUrl } from '../../core/console-url.ts'
import type { Filters } from '../../core/filters.ts'
import { NeedsTenant } from '../../shell/needs-tenant.tsx'
import { TenantFilter } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import { requestColumns } from './request-columns.tsx'

/** Recent relayed requests of a tenant, and why some of them failed. */
export default function RequestsPage() {
  const url = useUrlFilters(['tenant', 'key', 'model', 'failed'])
  return (
    <Page title="Requests" lead="Relayed requests that have ended, newest first: what they cost, and why some failed.">
      <FilterBar url={url}>
        <TenantFilter url={url} any="Choose a tenant" />
        <SelectFilter url={url} name="failed" label="Result" any="All" options={[['true', 'Failed']]} />
        <TextFilter url={url} name="model" label="Model" placeholder="id" />
        <TextFilter url={url} name="key" label="Key" placeholder="id" />
      </FilterBar>
      <NeedsTenant url={url}>
        {(tenant) => <RequestsOfTenant key={tenant} tenant={tenant} filters={url.filters} onClear={url.clear} />}
      </NeedsTenant>
    </Page>
  )
}

type RequestsOfTenantProps = {
  readonly tenant: string
  readonly filters: Filters
  readonly onClear: (() => void) | undefined
}

function RequestsOfTenant({ tenant, filters, onClear }: RequestsOfTenantProps) {
  const seesChannels = useMay('viewer')
  const { key, model, failed } = filters
  const list = useAdminList('/requests', { query: { tenant, key, model, failed } })
  return (
    <DataTable
      caption="Requests"
      columns={requestColumns(seesChannels)}
      list={list}
      rowKey={({ id }) => id}
      href={({ id }) => ledgerUrl(id, tenant)}
      empty={<Empty title="No request has ended yet">The first chat of this tenant shows here.</Empty>}
      onClearFilters={onClear}
      exportName={['requests', tenant, model, key]}
    />
  )
}
