import { useState } from 'preact/hooks'
import { useAdminList } from '../../api/admin-query.ts'
import type { TenantRow } from '../../api/admin-types.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { amountColumn, budgetColumns, countColumn, timeColumn } from '../../components/columns.tsx'
import { Id } from '../../components/copy.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { Page } from '../../components/page.tsx'
import { StaleNotice } from '../../components/stale-notice.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { tenantUrl } from '../../core/console-url.ts'
import { CreateTenant } from './create-tenant.tsx'

/** The summary of all tenants is written each minute. */
const REFRESH_MILLISECONDS = 60_000

/** Every tenant with its balance. */
export default function TenantsPage() {
  const [isCreating, setCreating] = useState(false)
  const mayWrite = useMay('owner')
  const list = useAdminList('/tenants', { everyMilliseconds: REFRESH_MILLISECONDS })
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New tenant
    </Button>
  )
  return (
    <Page
      title="Tenants"
      lead="Each tenant has one balance. The list is as old as its time below."
      actions={mayWrite ? create : undefined}
    >
      <StaleNotice asOf={list.asOf} onReload={list.reload} />
      <DataTable
        caption="Tenants"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        href={({ id }) => tenantUrl(id)}
        empty={<Empty title="There is no tenant yet">{mayWrite ? create : null}</Empty>}
        exportName={['tenants']}
      />
      {isCreating ? <CreateTenant onClose={() => setCreating(false)} /> : null}
    </Page>
  )
}

const COLUMNS: readonly TableColumn<TenantRow>[] = [
  { id: 'name', title: 'Name', value: ({ name }) => name, order: 'text' },
  { id: 'id', title: 'Id', value: ({ id }) => id, cell: ({ id }) => <Id value={id} label="tenant id" /> },
  {
    id: 'state',
    title: 'State',
    value: ({ state }) => state,
    cell: ({ state }) => <Status state={state} />,
    order: 'text',
  },
  balanceColumn('available', 'Available'),
  balanceColumn('held', 'Held'),
  balanceColumn('spent', 'Spent'),
  countColumn({ id: 'jobs', title: 'Open jobs' }, ({ open_jobs }) => open_jobs),
  ...budgetColumns<TenantRow>(({ budget }) => budget),
  timeColumn({ id: 'created', title: 'Created' }, ({ created_at }) => created_at, { order: 'text' }),
]

function balanceColumn(id: 'available' | 'held' | 'spent', title: string): TableColumn<TenantRow> {
  return amountColumn({ id, title }, (tenant) => tenant[id])
}
