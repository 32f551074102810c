import type { KeyRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { actionsColumn, budgetColumns, exported, numberColumn, timeColumn } from '../../components/columns.tsx'
import { Id } from '../../components/copy.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { TenantLink } from '../../components/tenant-link.tsx'
import { TwoLines } from '../../components/two-lines.tsx'
import { counted } from '../../core/plural.ts'
import type { KeyAction } from './key-action.ts'

/** The columns of the keys; owners also get what they may do. */
export function keyColumns(
  onAction: ((action: KeyAction) => void) | undefined,
  tenantName: (id: string) => string,
): readonly TableColumn<KeyRow>[] {
  return [
    {
      id: 'name',
      title: 'Key',
      order: 'text',
      value: ({ name }) => name,
      cell: (row) => <TwoLines main={row.name ?? 'without a name'} below={<IdAndRule row={row} />} />,
    },
    exported('Id', ({ id }) => id),
    exported('Issuer', ({ issuer }) => issuer ?? null),
    exported('Subject', ({ subject }) => subject ?? null),
    exported('Rule', ({ rule }) => rule ?? null),
    {
      id: 'tenant',
      title: 'Tenant',
      order: 'text',
      value: ({ tenant }) => tenant,
      cell: ({ tenant }) => <TenantLink tenant={{ id: tenant, name: tenantName(tenant) }} />,
    },
    {
      id: 'state',
      title: 'State',
      order: 'text',
      value: ({ state }) => state,
      cell: ({ state }) => <Status state={state} />,
    },
    {
      id: 'models',
      title: 'Models',
      value: ({ models }) => models?.join(' ') ?? 'all',
      cell: ({ models }) => (models === null ? 'all' : <Models models={models} />),
    },
    numberColumn({ id: 'rate', title: 'Rate a minute' }, ({ rate_per_minute }) => rate_per_minute),
    ...budgetColumns<KeyRow>(
      ({ budget }) => budget,
      ({ budget_missing }) => budget_missing === true,
    ),
    timeColumn({ id: 'created', title: 'Created' }, ({ created_at }) => created_at, { isExportOnly: true }),
    timeColumn({ id: 'expires', title: 'Expires' }, ({ expires_at }) => expires_at),
    ...(onAction === undefined ? [] : [actions(onAction)]),
  ]
}

/** The id of a key; of the key of a subject also its rule and its issuer. */
function IdAndRule({ row: { id, rule, issuer } }: { readonly row: KeyRow }) {
  return (
    <>
      <Id value={id} label="key id" />
      {issuer === undefined ? null : ` by rule ${rule} of ${issuer}`}
    </>
  )
}

function Models({ models }: { readonly models: readonly string[] }) {
  return (
    <span class="nowrap" title={models.join(', ')}>
      {models.length === 1 ? models[0] : counted(models.length, 'model')}
    </span>
  )
}

function actions(onAction: (action: KeyAction) => void): TableColumn<KeyRow> {
  return actionsColumn((row) =>
    row.state === 'revoked' ? (
      row.issuer === undefined ? (
        <Nothing />
      ) : (
        <Button onClick={() => onAction({ kind: 'restore', row })}>Restore</Button>
      )
    ) : (
      <span class="row-actions">
        <Button onClick={() => onAction({ kind: 'change', row })}>Change</Button>
        {row.issuer === undefined ? <Button onClick={() => onAction({ kind: 'rotate', row })}>Rotate</Button> : null}
        <Button onClick={() => onAction({ kind: 'revoke', row })}>Revoke</Button>
      </span>
    ),
  )
}
