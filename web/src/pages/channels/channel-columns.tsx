import { Nothing } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { actionsColumn, exported, numberColumn, timeColumn } from '../../components/columns.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { TwoLines } from '../../components/two-lines.tsx'
import { channelState } from '../../core/channel-state.ts'
import type { ChannelRow, SwitchAction } from './switch-action.ts'
import { SwitchedState } from './switched-state.tsx'

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
      value: channelState,
      cell: (row) => <SwitchedState row={row} state={channelState(row)} />,
    },
    numberColumn({ id: 'weight', title: 'Weight' }, ({ weight }) => weight),
    numberColumn({ id: 'priority', title: 'Priority' }, ({ priority }) => priority),
    numberColumn({ id: 'jobs', title: 'Open jobs' }, ({ open_jobs }) => open_jobs),
    numberColumn({ id: 'requests', title: 'Calls a minute' }, ({ figures }) => figures?.requests),
    numberColumn({ id: 'errors', title: 'Errors' }, ({ figures }) => figures?.errors),
    exported('p50 ms', ({ figures }) => rounded(figures?.p50_ms)),
    {
      id: 'p95',
      title: 'p50 / p95 ms',
      order: 'number',
      value: ({ figures }) => rounded(figures?.p95_ms),
      cell: ({ figures }) => <Milliseconds figures={figures} />,
      isShownOnly: true,
    },
    exported('p95 ms', ({ figures }) => rounded(figures?.p95_ms)),
    exported('Configured weight', ({ configured }) => configured?.weight),
    exported('Configured priority', ({ configured }) => configured?.priority),
    exported('Switched by', ({ switched_by }) => switched_by),
    timeColumn({ id: 'switched-at', title: 'Switched at' }, ({ switched_at }) => switched_at, { isExportOnly: true }),
    ...(onAction === undefined ? [] : [actions(onAction)]),
  ]
}

function placeOf({ provider, base_url_host }: Pick<ChannelRow, 'provider' | 'base_url_host'>): string {
  return [provider, base_url_host].filter((part) => part !== null).join(' at ')
}

function Milliseconds({ figures }: Pick<ChannelRow, 'figures'>) {
  const [p50, p95] = [rounded(figures?.p50_ms), rounded(figures?.p95_ms)]
  return p50 === null ? <Nothing /> : <span class="number">{`${p50} / ${p95 ?? '–'}`}</span>
}

function rounded(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds)
}

function actions(onAction: (action: SwitchAction) => void): TableColumn<ChannelRow> {
  return actionsColumn((row) => (
    <span class="row-actions">
      <Button
        onClick={() =>
          onAction({ kind: 'channel-state', id: row.id, isDisabled: row.disabled, openJobs: row.open_jobs })
        }
      >
        {row.disabled ? 'Enable' : 'Disable'}
      </Button>
      <Button onClick={() => onAction({ kind: 'channel-share', row })}>Weight</Button>
      {row.switched_by === null ? null : (
        <Button onClick={() => onAction({ kind: 'channel-clear', id: row.id })}>Clear</Button>
      )}
    </span>
  ))
}
