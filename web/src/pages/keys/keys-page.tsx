import { useState } from 'preact/hooks'
import { useAdminList } from '../../api/admin-query.ts'
import { useMay } from '../../api/session.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/feedback.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { TenantFilter, useTenantNames, useTenantScope, useTenants } from '../../shell/tenant-scope.tsx'
import { useUrlFilters } from '../../state/url-filters.ts'
import type { KeyAction } from './key-action.ts'
import { keyColumns } from './key-columns.tsx'
import { KeyForm } from './key-form.tsx'
import { NewKey } from './new-key.tsx'
import { RestoreKey, RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'

/** The API keys of one tenant, or of all. */
export default function KeysPage() {
  const url = useUrlFilters(['tenant'])
  const scope = useTenantScope(url)
  const tenants = useTenants({ isEnabled: useMay('finance') && scope === undefined })
  const [only, ...others] = tenants.data?.tenants ?? []
  const tenant = scope ?? (others.length === 0 ? only?.id : undefined)
  return (
    <Page title="Keys" lead="A key is shown once, when it is created. Only a hash is stored.">
      <FilterBar url={url}>
        <TenantFilter url={url} />
      </FilterBar>
      <KeyTable key={tenant} tenant={tenant} />
    </Page>
  )
}

function KeyTable({ tenant }: { readonly tenant: string | undefined }) {
  const [action, setAction] = useState<KeyAction | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const mayWrite = useMay('tenant-admin')
  const tenantName = useTenantNames()
  const list = useAdminList('/keys', { query: { tenant } })
  const close = () => setAction(null)
  const create = (
    <Button
      kind="primary"
      icon="plus"
      blockedBecause={tenant === undefined ? 'Choose a tenant first' : undefined}
      onClick={() => setAction({ kind: 'create' })}
    >
      New key
    </Button>
  )
  const created = (key: string) => {
    close()
    setSecret(key)
  }
  return (
    <>
      {mayWrite ? <div class="toolbar">{create}</div> : null}
      <DataTable
        caption="API keys"
        columns={keyColumns(mayWrite ? setAction : undefined, tenantName)}
        list={list}
        rowKey={({ id }) => id}
        empty={<Empty title="There is no key yet">{mayWrite ? create : null}</Empty>}
        exportName={['keys', tenant]}
      />
      {action?.kind === 'create' && tenant !== undefined ? (
        <KeyForm tenant={tenant} row={null} onClose={close} onCreated={created} />
      ) : null}
      {action?.kind === 'change' ? (
        <KeyForm tenant={action.row.tenant} row={action.row} onClose={close} onCreated={created} />
      ) : null}
      {action?.kind === 'rotate' ? <RotateKey row={action.row} onClose={close} onCreated={created} /> : null}
      {action?.kind === 'revoke' ? <RevokeKey row={action.row} onClose={close} /> : null}
      {action?.kind === 'restore' ? <RestoreKey row={action.row} onClose={close} /> : null}
      {secret === null ? null : <NewKey secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}
