import type { ChannelRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { actionsColumn, exported, numberColumn } from '../../components/columns.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { TwoLines } from '../../components/two-lines.tsx'
import { channelState } from '../../core/channel-state.ts'
import type { SwitchAction } from './switch-action.ts'
import { SwitchedState, switchedColumns } from './switched-state.tsx'

/** The columns of the channels; owners also get the switches. */
export function channelColumns(
  onAction: ((action: SwitchAction) => void) | undefined,
): readonly TableColumn<ChannelRow>[] {
  return [
    {
      id: 'id',
      title: 'Channel',
      order: 'text',
      value: ({ id }) => id,
      cell: ({ id, provider, base_url_host }) => <TwoLines main={id} below={placeOf({ provider, base_url_host })} />,
    },
    exported('Provider', placeOf),
    {
      id: 'state',
      title: 'State',
      order: 'text',
      value: stateOf,
      cell: (row) => <SwitchedState row={row} state={stateOf(row)} />,
    },
    numberColumn({ id: 'weight', title: 'Weight' }, ({ weight }) => weight),
    numberColumn({ id: 'priority', title: 'Priority' }, ({ priority }) => priority),
    numberColumn({ id: 'jobs', title: 'Open jobs' }, ({ open_jobs }) => open_jobs),
    numberColumn({ id: 'requests', title: 'Calls a minute' }, ({ calls }) => calls),
    numberColumn({ id: 'errors', title: 'Errors' }, errorsOf),
    exported('p50 ms', ({ p50_milliseconds }) => rounded(p50_milliseconds)),
    {
      id: 'p95',
      title: 'p50 / p95 ms',
      order: 'number',
      value: ({ p95_milliseconds }) => rounded(p95_milliseconds),
      cell: (row) => <Milliseconds row={row} />,
      isShownOnly: true,
    },
    exported('p95 ms', ({ p95_milliseconds }) => rounded(p95_milliseconds)),
    exported('Configured weight', ({ configured_weight }) => configured_weight),
    exported('Configured priority', ({ configured_priority }) => configured_priority),
    ...switchedColumns<ChannelRow>(),
    ...(onAction === undefined ? [] : [actions(onAction)]),
  ]
}

function placeOf({ provider, base_url_host }: Pick<ChannelRow, 'provider' | 'base_url_host'>): string {
  return [provider, base_url_host].filter((part) => part !== null).join(' at ')
}

function stateOf(row: ChannelRow): string {
  return channelState({ ...row, disabled: isDisabled(row) })
}

/** A channel that left the configuration has its switches alone. */
function isDisabled({ settings }: ChannelRow): boolean {
  return settings.some(({ value }) => value === 'disabled')
}

function errorsOf({ errors }: ChannelRow): number | null {
  return errors === null ? null : Object.values(errors).reduce((sum, count) => sum + count, 0)
}

function Milliseconds({ row }: { readonly row: ChannelRow }) {
  const [p50, p95] = [rounded(row.p50_milliseconds), rounded(row.p95_milliseconds)]
  return p50 === null ? <Nothing /> : <span class="number">{`${p50} / ${p95 ?? '–'}`}</span>
}

function rounded(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds)
}

function actions(onAction: (action: SwitchAction) => void): TableColumn<ChannelRow> {
  return actionsColumn((row) => (
    <span class="row-actions">
      <Button
        onClick={() =>
          onAction({ kind: 'channel-state', id: row.id, isDisabled: isDisabled(row), openJobs: row.open_jobs })
        }
      >
        {isDisabled(row) ? 'Enable' : 'Disable'}
      </Button>
      <Button onClick={() => onAction({ kind: 'channel-share', row })}>Weight</Button>
      {row.settings.length === 0 ? null : (
        <Button onClick={() => onAction({ kind: 'channel-clear', id: row.id })}>Clear</Button>
      )}
    </span>
  ))
}
