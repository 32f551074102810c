import { useState } from 'preact/hooks'
import { useAdminList } from '../../api/admin-query.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import type { Filters } from '../../core/filters.ts'
import { dayTimes } from '../../core/time.ts'
import { NeedsTenant } from '../../shell/needs-tenant.tsx'
import { TenantFilter } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import { idOf, ledgerColumns } from './ledger-columns.tsx'
import { StatementDialog } from './statement-dialog.tsx'
import { Verification } from './verification.tsx'

/** The one row of a relayed request is that of its end. */
const KINDS = [
  ['grant', 'grant'],
  ['adjust', 'adjust'],
  ['reserve', 'reserve (videos)'],
  ['settle', 'settle'],
  ['release', 'release'],
] as const

/** Every movement of a tenant's credits. */
export default function LedgerPage() {
  const url = useUrlFilters(['tenant', 'kind', 'from', 'to', 'id'])
  return (
    <Page title="Ledger" lead="Rows are written once and never changed. Amount: change of the available balance.">
      <FilterBar url={url}>
        <TenantFilter url={url} any="Choose a tenant" />
        <SelectFilter url={url} name="kind" label="Kind" any="All kinds" options={KINDS} />
        <TextFilter url={url} name="from" label="From (UTC)" type="date" />
        <TextFilter url={url} name="to" label="To (UTC)" type="date" />
        <TextFilter url={url} name="id" label="Job, request or grant" placeholder="id" />
      </FilterBar>
      <NeedsTenant url={url}>
        {(tenant) => <LedgerOfTenant key={tenant} tenant={tenant} filters={url.filters} onClear={url.clear} />}
      </NeedsTenant>
    </Page>
  )
}

type LedgerOfTenantProps = {
  readonly tenant: string
  readonly filters: Filters
  readonly onClear: (() => void) | undefined
}

function LedgerOfTenant({ tenant, filters, onClear }: LedgerOfTenantProps) {
  const [shown, setShown] = useState<'statement' | 'verification' | null>(null)
  const mayVerify = useMay('finance')
  const list = useAdminList('/ledger', { query: { ...ledgerQuery(filters), tenant } })
  return (
    <>
      <div class="toolbar">
        <Button onClick={() => setShown('statement')}>Statement</Button>
        {mayVerify ? <Button onClick={() => setShown('verification')}>Verify</Button> : null}
      </div>
      <DataTable
        caption="Ledger"
        columns={ledgerColumns(tenant)}
        list={list}
        rowKey={(row) => `${idOf(row)} ${row.kind} ${row.at}`}
        empty={<Empty title="Nothing has moved yet">A grant or the first request writes the first row.</Empty>}
        onClearFilters={onClear}
        exportName={['ledger', tenant, filters.kind]}
      />
      {shown === 'statement' ? (
        <StatementDialog tenant={tenant} from={filters.from} to={filters.to} onClose={() => setShown(null)} />
      ) : null}
      {shown === 'verification' ? <Verification tenant={tenant} onClose={() => setShown(null)} /> : null}
    </>
  )
}

/** Days of the url as the times of the API; `to` includes its day. */
function ledgerQuery({ kind, id, from = '', to = '' }: Filters) {
  return { kind, id, from: dayTimes(from).start, to: dayTimes(to).end }
}
