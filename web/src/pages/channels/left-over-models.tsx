import type { ModelRow } from '../../api/admin-types.ts'
import { Button } from '../../components/button.tsx'
import { actionsColumn, timeColumn } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import type { SwitchAction } from './switch-action.ts'

type LeftOverModelsProps = {
  readonly rows: readonly ModelRow[]
  readonly onAction: ((action: SwitchAction) => void) | undefined
}

/** Models that left the configuration with switches; nothing where there are none. */
export function LeftOverModels({ rows, onAction }: LeftOverModelsProps) {
  return rows.length === 0 ? null : (
    <>
      <h2>Switches of models that left the configuration</h2>
      <p class="hint">They hold again if the model comes back. Clear them if it should then start as configured.</p>
      <PlainTable
        caption="Switches of models that left the configuration"
        columns={columns(onAction)}
        rows={rows}
        rowKey={({ id }) => id}
        exportName={['left-over-models']}
      />
    </>
  )
}

function columns(onAction: LeftOverModelsProps['onAction']): readonly TableColumn<ModelRow>[] {
  return [
    { id: 'id', title: 'Model', value: ({ id }) => id },
    { id: 'state', title: 'Switched', value: ({ settings: [set] }) => set?.value },
    { id: 'by', title: 'By', value: ({ settings: [set] }) => set?.by },
    timeColumn({ id: 'at', title: 'At' }, ({ settings: [set] }) => set?.since ?? null),
    ...(onAction === undefined
      ? []
      : [
          actionsColumn<ModelRow>(({ id }) => (
            <Button onClick={() => onAction({ kind: 'model-clear', id })}>Clear</Button>
          )),
        ]),
  ]
}
