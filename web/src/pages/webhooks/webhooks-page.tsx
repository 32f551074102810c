import { useAdminList } from '../../api/admin-query.ts'
import type { CallbackRow } from '../../api/admin-types.ts'
import { useMay } from '../../api/session.ts'
import { Nothing } from '../../components/amount.tsx'
import { numberColumn, timeColumn } from '../../components/columns.tsx'
import { Id } from '../../components/copy.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { videoUrl } from '../../core/console-url.ts'
import { NeedsTenant } from '../../shell/needs-tenant.tsx'
import { TenantFilter } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import { CallbackSecret } from './callback-secret.tsx'
import { VerificationCode } from './verification-code.tsx'

/** Callbacks of a tenant's jobs: how they were delivered, and how a client verifies them. */
export default function WebhooksPage() {
  const url = useUrlFilters(['tenant'])
  return (
    <Page
      title="Webhooks"
      lead="A job with a callback_url ends with a callback: a webhook, signed as Standard Webhooks say. Attempts of the newest jobs stand here."
    >
      <FilterBar url={url}>
        <TenantFilter url={url} any="Choose a tenant" />
      </FilterBar>
      <NeedsTenant url={url}>{(tenant) => <WebhooksOfTenant key={tenant} tenant={tenant} />}</NeedsTenant>
    </Page>
  )
}

function WebhooksOfTenant({ tenant }: { readonly tenant: string }) {
  const list = useAdminList('/webhooks', { query: { tenant } })
  const mayReveal = useMay('tenant-admin')
  return (
    <>
      <DataTable
        caption="Callback attempts"
        columns={COLUMNS}
        list={list}
        rowKey={({ job_id, attempt }) => `${job_id} ${attempt}`}
        href={({ job_id }) => videoUrl(job_id, tenant)}
        empty={
          <Empty title="No callback has been sent">
            <span>
              Create a job with <code>callback_url</code>; its page sends a callback again.
            </span>
          </Empty>
        }
        exportName={['callback', 'attempts', tenant]}
      />
      {mayReveal ? <CallbackSecret tenant={tenant} /> : null}
      <VerificationCode />
    </>
  )
}

const COLUMNS: readonly TableColumn<CallbackRow>[] = [
  timeColumn({ id: 'at', title: 'Time' }, ({ at }) => at),
  {
    id: 'state',
    title: 'Delivery',
    order: 'text',
    value: ({ delivered }) => (delivered ? 'delivered' : 'failed'),
    cell: ({ delivered }) => <Status state={delivered ? 'delivered' : 'failed'} />,
  },
  { id: 'host', title: 'Receiver', order: 'text', value: ({ url_host }) => url_host },
  numberColumn({ id: 'status', title: 'Status' }, ({ status }) => status),
  { id: 'milliseconds', title: 'ms', order: 'number', value: ({ milliseconds }) => milliseconds },
  { id: 'attempt', title: 'Attempt', order: 'number', value: ({ attempt }) => attempt },
  {
    id: 'job',
    title: 'Job',
    value: ({ job_id }) => job_id,
    cell: ({ job_id }) => <Id value={job_id} label="job id" />,
  },
  {
    id: 'error',
    title: 'Error',
    isProse: true,
    value: ({ error }) => error,
    cell: ({ error }) => error ?? <Nothing />,
  },
]
