import type { List } from '../api/admin-query.ts'
import { inHand } from '../api/list-of.ts'
import { counted } from '../core/plural.ts'
import { clockTime } from '../core/time.ts'
import { settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'
import { Button } from './button.tsx'
import { ExportButton } from './export-button.tsx'
import type { TableColumn } from './table-column.ts'

type TableStatusProps<Row> = {
  readonly columns: readonly TableColumn<Row>[]
  readonly list: List<Row>
  readonly exportName: readonly (string | null | undefined)[]
}

/** How many rows are shown, of what time, and their export. */
export function TableStatus<Row>({ columns, list, exportName }: TableStatusProps<Row>) {
  const { zone } = useStore(settings)
  const { length } = list.rows
  const count = list.hasMore
    ? length === 0
      ? 'No row so far'
      : `${length.toLocaleString('en')} rows and more`
    : counted(length, 'row')
  return (
    <div class="table-status">
      <span>
        {count}
        {list.asOf === null ? '' : `, as of ${clockTime(list.asOf, zone)}`}
        {list.hasMore && length > 0 ? '; sums and order are of the loaded rows' : ''}
        {list.leftOut === null ? '' : `; ${list.leftOut}`}
      </span>
      <span class="table-status-actions">
        <Button kind="quiet" icon="reload" onClick={list.reload}>
          Reload
        </Button>
        <ExportButton
          columns={columns}
          pages={(signal) => (list.hasMore ? list.pages(signal) : inHand(list.rows, list.leftOut))}
          name={exportName}
          blockedBecause={list.rows.length === 0 && !list.hasMore ? 'There are no rows to export' : undefined}
        />
      </span>
    </div>
  )
}
