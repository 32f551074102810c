import { useState } from 'preact/hooks'
import type { List } from '../api/admin-query.ts'
import { csvFile, csvFileName } from '../core/csv.ts'
import { clockTime } from '../core/time.ts'
import { notify } from '../state/notices.ts'
import { settings } from '../state/settings.ts'
import { useStore } from '../state/store.ts'
import { describeFailure } from './action-dialog.tsx'
import { Button } from './button.tsx'
import { saveFile } from './save-file.ts'
import type { TableColumn } from './table-column.ts'

type TableStatusProps<Row> = {
  readonly columns: readonly TableColumn<Row>[]
  readonly list: List<Row>
  readonly exportName: readonly (string | null | undefined)[]
}

/** How many rows are shown, of what time, and their export. */
export function TableStatus<Row>({ columns, list, exportName }: TableStatusProps<Row>) {
  const { zone } = useStore(settings)
  const [isExporting, setExporting] = useState(false)
  const exportRows = async () => {
    setExporting(true)
    try {
      const rows = list.hasMore ? await list.readAll() : list.rows
      const titles = columns.map(({ title }) => title)
      const cells = rows.map((row) => columns.map(({ value }) => value(row)))
      saveFile(csvFileName(exportName, new Date()), csvFile(titles, cells))
      notify(`Exported ${rows.length} rows`)
    } catch (failure) {
      notify(`The export failed: ${describeFailure(failure)}`, 'bad')
    } finally {
      setExporting(false)
    }
  }
  const count = `${list.rows.length}${list.hasMore ? '+' : ''} ${list.rows.length === 1 ? 'row' : 'rows'}`
  return (
    <div class="table-status">
      <span>
        {count}
        {list.asOf === null ? '' : `, as of ${clockTime(list.asOf, zone)}`}
        {list.hasMore ? '; sums and order are of the loaded rows' : ''}
        {list.leftOut === null ? '' : `; ${list.leftOut}`}
      </span>
      <span class="table-status-actions">
        <Button kind="quiet" icon="reload" onClick={list.reload}>
          Reload
        </Button>
        <Button
          kind="quiet"
          icon="download"
          isBusy={isExporting}
          onClick={exportRows}
          blockedBecause={list.rows.length === 0 ? 'There are no rows to export' : undefined}
        >
          Export CSV
        </Button>
      </span>
    </div>
  )
}
