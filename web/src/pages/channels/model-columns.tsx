import type { ModelRow } from '../../api/admin-types.ts'
import { Button } from '../../components/button.tsx'
import { actionsColumn, exported } from '../../components/columns.tsx'
import { CopyButton } from '../../components/copy.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { priceWords } from '../../core/price-words.ts'
import type { SwitchAction } from './switch-action.ts'
import { SwitchedState, switchedColumns } from './switched-state.tsx'

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
    {
      id: 'state',
      title: 'State',
      value: ({ state }) => state,
      cell: (row) => <SwitchedState row={row} state={row.state} />,
    },
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
      value: (row) => priceWordsOf(row).join('; '),
      cell: (row) => <Prices words={priceWordsOf(row)} />,
    },
    exported('Limits', ({ limits }) => JSON.stringify(limits)),
    ...switchedColumns<ModelRow>(),
    ...(onAction === undefined ? [] : [actions(onAction)]),
  ]
}

function priceWordsOf({ pricing }: ModelRow): readonly string[] {
  return pricing === null ? [] : priceWords(pricing)
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
  return actionsColumn(({ id, state, settings }) => (
    <span class="row-actions">
      <Button onClick={() => onAction({ kind: 'model-state', id, isDisabled: state === 'disabled' })}>
        {state === 'disabled' ? 'Enable' : 'Disable'}
      </Button>
      {settings.length === 0 ? null : <Button onClick={() => onAction({ kind: 'model-clear', id })}>Clear</Button>}
    </span>
  ))
}
