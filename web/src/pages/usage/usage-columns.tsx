import type { Usage } from '../../api/admin-types.ts'
import { Amount } from '../../components/amount.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { sumAmounts } from '../../core/amount.ts'

type UsageRow = Usage['data'][number]

/** The columns of usage sums by one dimension. */
export function usageColumns(by: string): readonly TableColumn<UsageRow>[] {
  const title = `${by.charAt(0).toUpperCase()}${by.slice(1)}`
  return [
    { id: by, title, order: 'text', value: (row) => nameOf(row, by) },
    count('requests', 'Requests', ({ requests }) => requests),
    count('input', 'Tokens in', ({ input_tokens }) => input_tokens),
    count('cached', 'Cached', ({ cached_input_tokens }) => cached_input_tokens),
    count('output', 'Tokens out', ({ output_tokens }) => output_tokens),
    count('video', 'Video s', ({ video_seconds }) => video_seconds),
    count('images', 'Images', ({ images }) => images),
    {
      id: 'cost',
      title: 'Cost',
      order: 'amount',
      value: ({ cost }) => cost,
      cell: ({ cost }) => <Amount value={cost} />,
      total: (rows) => <Amount value={sumAmounts(rows.map(({ cost }) => cost))} />,
    },
  ]
}

/** The value of the dimension by which a row is grouped. */
export function nameOf(row: UsageRow, by: string): string {
  const name = row[by]
  return typeof name === 'string' ? name : 'unknown'
}

function count(id: string, title: string, value: (row: UsageRow) => number): TableColumn<UsageRow> {
  return {
    id,
    title,
    order: 'number',
    value,
    cell: (row) => value(row).toLocaleString('en'),
    total: (rows) => rows.reduce((sum, row) => sum + value(row), 0).toLocaleString('en'),
  }
}
