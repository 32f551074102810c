import type { Setting } from '../../api/admin-types.ts'
import { exported, timeColumn } from '../../components/columns.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { Time } from '../../components/time.tsx'
import { TwoLines } from '../../components/two-lines.tsx'

type Switched = { readonly settings: readonly Setting[] }

/** The state of a channel or a model, and who has switched it last. */
export function SwitchedState({ row, state }: { readonly row: Switched; readonly state: string }) {
  const status = <Status state={state} />
  const latest = latestOf(row)
  return latest === undefined ? (
    status
  ) : (
    <TwoLines
      main={status}
      below={
        <>
          by {latest.by}, <Time at={latest.since} />
        </>
      }
    />
  )
}

/** Columns of a file: who has switched the row last, and when. */
export function switchedColumns<Row extends Switched>(): readonly TableColumn<Row>[] {
  return [
    exported('Switched by', (row) => latestOf(row)?.by),
    timeColumn({ id: 'switched-at', title: 'Switched at' }, (row) => latestOf(row)?.since ?? null, {
      isExportOnly: true,
    }),
  ]
}

function latestOf({ settings }: Switched): Setting | undefined {
  return settings.toSorted((left, right) => Date.parse(right.since) - Date.parse(left.since))[0]
}
