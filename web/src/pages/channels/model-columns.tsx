import type { Channels } from '../../api/admin-types.ts'
import { Button } from '../../components/button.tsx'
import { actionsColumn, exported, timeColumn } from '../../components/columns.tsx'
import { CopyButton } from '../../components/copy.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { priceWords } from '../../core/price-words.ts'
import type { SwitchAction } from './switch-action.ts'
import { SwitchedState } from './switched-state.tsx'

type ModelRow = Channels['models'][number]

/** The columns of the models; owners also get the switch. */
export function modelColumns(onAction: ((action: SwitchAction) => void) | undefined): readonly TableColumn<ModelRow>[] {
  return [
    {
      id: 'id',
      title: 'Model',
      order: 'text',
      value: ({ id }) => id,
      cell: ({ id }) => (
        <span class="nowrap">
          {id} <CopyButton value={id} label="model id" />
        </span>
      ),
    },
    { id: 'kind', title: 'Kind', order: 'text', value: ({ kind }) => kind },
    { id: 'state', title: 'State', value: stateOf, cell: (row) => <SwitchedState row={row} state={stateOf(row)} /> },
    {
      id: 'channels',
      title: 'Channels',
      isProse: true,
      value: ({ channels }) => channels.join(' '),
      cell: ({ channels }) => channels.join(', '),
    },
    {
      id: 'prices',
      title: 'Price in credits',
      isProse: true,
      value: ({ pricing }) => priceWords(pricing).join('; '),
      cell: ({ pricing }) => <Prices words={priceWords(pricing)} />,
    },
    exported('Limits', ({ limits }) => JSON.stringify(limits)),
    exported('Switched by', ({ switched_by }) => switched_by),
    timeColumn({ id: 'switched-at', title: 'Switched at' }, ({ switched_at }) => switched_at, { isExportOnly: true }),
    ...(onAction === undefined ? [] : [actions(onAction)]),
  ]
}

function stateOf({ disabled }: ModelRow): string {
  return disabled ? 'disabled' : 'enabled'
}

/** The first price, and the others behind it. */
function Prices({ words }: { readonly words: readonly string[] }) {
  const [first = 'free', ...others] = words
  return others.length === 0 ? (
    <span>{first}</span>
  ) : (
    <details class="prices">
      <summary>
        {first} <span class="hint">and {others.length} more</span>
      </summary>
      <ul>
        {others.map((word) => (
          <li key={word}>{word}</li>
        ))}
      </ul>
    </details>
  )
}

function actions(onAction: (action: SwitchAction) => void): TableColumn<ModelRow> {
  return actionsColumn(({ id, disabled, switched_by }) => (
    <span class="row-actions">
      <Button onClick={() => onAction({ kind: 'model-state', id, isDisabled: disabled })}>
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      {switched_by === null ? null : <Button onClick={() => onAction({ kind: 'model-clear', id })}>Clear</Button>}
    </span>
  ))
}
