import type { Usage } from '../../api/admin-types.ts'
import { amountColumn, countColumn, exported } from '../../components/columns.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { keyLabel } from '../../core/key-label.ts'

type UsageRow = Usage['rows'][number]

/** Says the name of a tenant by its id. */
type TenantName = (id: string) => string

/** The columns of usage sums by one dimension. Keys and tenants stand by their names; a file also has their ids. */
export function usageColumns(by: string, tenantName: TenantName): readonly TableColumn<UsageRow>[] {
  const title = `${by.charAt(0).toUpperCase()}${by.slice(1)}`
  return [
    {
      id: by,
      title,
      order: 'text',
      value: (row) => nameOf(row, by, tenantName),
      cell: (row) => <span title={idOf(row, by)}>{nameOf(row, by, tenantName)}</span>,
    },
    ...(by === 'key' || by === 'tenant' ? [exported<UsageRow>(`${title} id`, (row) => idOf(row, by))] : []),
    countColumn({ id: 'requests', title: 'Requests' }, ({ requests }) => requests),
    countColumn({ id: 'input', title: 'Tokens in' }, ({ input_tokens }) => input_tokens),
    countColumn({ id: 'cached', title: 'Cached' }, ({ cached_input_tokens }) => cached_input_tokens),
    countColumn({ id: 'output', title: 'Tokens out' }, ({ output_tokens }) => output_tokens),
    countColumn({ id: 'video', title: 'Video s' }, ({ video_seconds }) => video_seconds),
    countColumn({ id: 'images', title: 'Images' }, ({ images }) => images),
    amountColumn({ id: 'cost', title: 'Cost' }, ({ cost }) => cost),
  ]
}

/** The value of the dimension by which a row is grouped, as people name it. */
export function nameOf(row: UsageRow, by: string, tenantName: TenantName): string {
  const id = idOf(row, by)
  return by === 'key' ? keyLabel(id, row.key_name) : by === 'tenant' ? tenantName(id) : id
}

function idOf(row: UsageRow, by: string): string {
  const id = row[by]
  return typeof id === 'string' ? id : 'unknown'
}
