import { useEffect, useRef, useState } from 'preact/hooks'
import { csvFileName } from '../core/csv.ts'
import { type ExportColumn, exportCsv } from '../core/csv-export.ts'
import type { ListPage } from '../core/list-pages.ts'
import { counted } from '../core/plural.ts'
import { notify } from '../state/notices.ts'
import { describeFailure } from './action-dialog.tsx'
import { Button } from './button.tsx'
import { saveFile } from './save-file.ts'

type ExportButtonProps<Row> = {
  readonly columns: readonly ExportColumn<Row>[]
  /** Every row, page by page. */
  readonly pages: (signal: AbortSignal) => AsyncIterable<ListPage<Row>>
  /** Words of the file's name. */
  readonly name: readonly (string | null | undefined)[]
  readonly blockedBecause?: string | undefined
}

/** Writes every row to a CSV file. A long export shows how far it is and can be cancelled; a part is never saved as the whole. */
export function ExportButton<Row>({ columns, pages, name, blockedBecause }: ExportButtonProps<Row>) {
  const [count, setCount] = useState<number | null>(null)
  const stop = useRef<AbortController | null>(null)
  useEffect(() => () => stop.current?.abort(), [])
  const run = async () => {
    const controller = new AbortController()
    stop.current = controller
    setCount(0)
    try {
      const { parts, count: rows, leftOut } = await exportCsv(columns, pages(controller.signal), setCount)
      controller.signal.throwIfAborted()
      saveFile(csvFileName(name, { now: new Date(), isIncomplete: leftOut !== null }), parts)
      notify(
        leftOut === null ? `Exported ${counted(rows, 'row')}` : `Exported ${counted(rows, 'row')}, without ${leftOut}`,
        leftOut === null ? 'good' : 'bad',
      )
    } catch (failure) {
      const isStopped = controller.signal.aborted
      notify(isStopped ? 'The export was cancelled: no file' : `The export failed: ${describeFailure(failure)}`, 'bad')
    }
    setCount(null)
  }
  const isRunning = count !== null
  // One button for both, so that the focus stays where it is.
  return (
    <span class="export">
      {isRunning ? <progress aria-label="Export" /> : null}
      {isRunning ? <span class="number">{counted(count, 'row')}</span> : null}
      <Button
        kind="quiet"
        icon={isRunning ? 'close' : 'download'}
        onClick={isRunning ? () => stop.current?.abort() : run}
        blockedBecause={isRunning ? undefined : blockedBecause}
      >
        {isRunning ? 'Cancel the export' : 'Export CSV'}
      </Button>
    </span>
  )
}
