import { Nothing } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { Time } from '../../components/time.tsx'
import { TwoLines } from '../../components/two-lines.tsx'
import type { ChannelRow, SwitchAction } from './switch-action.ts'

/** The columns of the channels; owners also get the switches. */
export function channelColumns(act: ((action: SwitchAction) => void) | undefined): readonly TableColumn<ChannelRow>[] {
  return [
    {
      id: 'id',
      title: 'Channel',
      order: 'text',
      value: ({ id }) => id,
      cell: ({ id, provider, base_url_host }) => <TwoLines main={id} below={placeOf({ provider, base_url_host })} />,
    },
    { id: 'provider', title: 'Provider', value: placeOf, isExportOnly: true },
    { id: 'state', title: 'State', order: 'text', value: stateOf, cell: (row) => <State row={row} /> },
    number('weight', 'Weight', ({ weight }) => weight),
    number('priority', 'Priority', ({ priority }) => priority),
    number('jobs', 'Open jobs', ({ open_jobs }) => open_jobs),
    number('requests', 'Calls', ({ figures }) => figures?.requests),
    number('errors', 'Errors', ({ figures }) => figures?.errors),
    { id: 'p50', title: 'p50 ms', value: ({ figures }) => rounded(figures?.p50_ms), isExportOnly: true },
    {
      id: 'p95',
      title: 'p50 / p95 ms',
      order: 'number',
      value: ({ figures }) => rounded(figures?.p95_ms),
      cell: ({ figures }) => <Milliseconds figures={figures} />,
    },
    { id: 'switched', title: 'Switched by', value: ({ switched_by }) => switched_by, isExportOnly: true },
    ...(act === undefined ? [] : [actions(act)]),
  ]
}

function placeOf({ provider, base_url_host }: Pick<ChannelRow, 'provider' | 'base_url_host'>): string {
  return [provider, base_url_host].filter((part) => part !== null).join(' at ')
}

function State({ row }: { readonly row: ChannelRow }) {
  const status = <Status state={stateOf(row)} />
  return row.switched_by === null ? (
    status
  ) : (
    <TwoLines
      main={status}
      below={
        <>
          by {row.switched_by}, <Time at={row.switched_at} />
        </>
      }
    />
  )
}

function stateOf({ disabled, breaker }: ChannelRow): string {
  if (disabled) {
    return 'disabled'
  }
  return breaker === 'open' ? 'breaker open' : breaker === 'half_open' ? 'recovering' : 'enabled'
}

function number(
  id: string,
  title: string,
  value: (row: ChannelRow) => number | null | undefined,
): TableColumn<ChannelRow> {
  return { id, title, order: 'number', value, cell: (row) => value(row) ?? <Nothing /> }
}

function Milliseconds({ figures }: Pick<ChannelRow, 'figures'>) {
  const [p50, p95] = [rounded(figures?.p50_ms), rounded(figures?.p95_ms)]
  return p50 === null ? <Nothing /> : <span class="number">{`${p50} / ${p95 ?? '–'}`}</span>
}

function rounded(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds)
}

function actions(act: (action: SwitchAction) => void): TableColumn<ChannelRow> {
  return {
    id: 'actions',
    title: 'Actions',
    value: () => '',
    cell: (row) => (
      <span class="row-actions">
        <Button
          onClick={() => act({ kind: 'channel-state', id: row.id, isDisabled: row.disabled, openJobs: row.open_jobs })}
        >
          {row.disabled ? 'Enable' : 'Disable'}
        </Button>
        <Button onClick={() => act({ kind: 'channel-share', row })}>Weight</Button>
        {row.switched_by === null ? null : (
          <Button onClick={() => act({ kind: 'channel-clear', id: row.id })}>Clear</Button>
        )}
      </span>
    ),
  }
}
