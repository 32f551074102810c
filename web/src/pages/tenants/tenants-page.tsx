import { useState } from 'preact/hooks'
import { useAdminList } from '../../api/admin-query.ts'
import type { TenantRow } from '../../api/admin-types.ts'
import { useMay } from '../../api/session.ts'
import { Amount } from '../../components/amount.tsx'
import { BudgetBar } from '../../components/budget-bar.tsx'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { Page } from '../../components/page.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { Time } from '../../components/time.tsx'
import { sumAmounts } from '../../core/amount.ts'
import { CreateTenant } from './create-tenant.tsx'

/** Every tenant with its balance. */
export default function TenantsPage() {
  const [isCreating, setCreating] = useState(false)
  const mayWrite = useMay('owner')
  const list = useAdminList('/tenants')
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
      <DataTable
        caption="Tenants"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        href={({ id }) => `/console/tenants/${encodeURIComponent(id)}`}
        empty={<Empty title="There is no tenant yet">{mayWrite ? create : null}</Empty>}
        exportName={['tenants']}
      />
      {isCreating ? <CreateTenant onClose={() => setCreating(false)} /> : null}
    </Page>
  )
}

const COLUMNS: readonly TableColumn<TenantRow>[] = [
  { id: 'name', title: 'Name', value: ({ name }) => name, order: 'text' },
  { id: 'id', title: 'Id', value: ({ id }) => id, cell: ({ id }) => <code>{id}</code> },
  {
    id: 'state',
    title: 'State',
    value: ({ state }) => state,
    cell: ({ state }) => <Status state={state} />,
    order: 'text',
  },
  amountColumn('available', 'Available'),
  amountColumn('held', 'Held'),
  amountColumn('spent', 'Spent'),
  {
    id: 'jobs',
    title: 'Open jobs',
    value: ({ open_jobs }) => open_jobs,
    order: 'number',
    total: (rows) => rows.reduce((sum, { open_jobs }) => sum + open_jobs, 0),
  },
  {
    id: 'budget',
    title: 'Budget',
    value: ({ budget }) => budget?.amount,
    cell: ({ budget }) => <BudgetBar budget={budget} />,
  },
  {
    id: 'created',
    title: 'Made',
    value: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
    order: 'number',
    isAtEnd: false,
  },
]

function amountColumn(id: 'available' | 'held' | 'spent', title: string): TableColumn<TenantRow> {
  return {
    id,
    title,
    order: 'amount',
    value: ({ balance }) => balance[id],
    cell: ({ balance }) => <Amount value={balance[id]} />,
    total: (rows) => <Amount value={sumAmounts(rows.map(({ balance }) => balance[id]))} />,
  }
}
