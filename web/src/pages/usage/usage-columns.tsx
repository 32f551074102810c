import type { Usage } from '../../api/admin-types.ts'
import { amountColumn, countColumn } from '../../components/columns.tsx'
import type { TableColumn } from '../../components/table-column.ts'

type UsageRow = Usage['rows'][number]

/** The columns of usage sums by one dimension. */
export function usageColumns(by: string): readonly TableColumn<UsageRow>[] {
  const title = `${by.charAt(0).toUpperCase()}${by.slice(1)}`
  return [
    { id: by, title, order: 'text', value: (row) => nameOf(row, by) },
    countColumn({ id: 'requests', title: 'Requests' }, ({ requests }) => requests),
    countColumn({ id: 'input', title: 'Tokens in' }, ({ input_tokens }) => input_tokens),
    countColumn({ id: 'cached', title: 'Cached' }, ({ cached_input_tokens }) => cached_input_tokens),
    countColumn({ id: 'output', title: 'Tokens out' }, ({ output_tokens }) => output_tokens),
    countColumn({ id: 'video', title: 'Video s' }, ({ video_seconds }) => video_seconds),
    countColumn({ id: 'images', title: 'Images' }, ({ images }) => images),
    amountColumn({ id: 'cost', title: 'Cost' }, ({ cost }) => cost),
  ]
}

/** The value of the dimension by which a row is grouped. */
export function nameOf(row: UsageRow, by: string): string {
  const name = row[by]
  return typeof name === 'string' ? name : 'unknown'
}
