import type { Overview } from '../../api/admin-types.ts'
import { numberColumn } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { channelState } from '../../core/channel-state.ts'

type Channel = Overview['channels'][number]

/** How each channel does, in one line each. */
export function ChannelHealth({ channels }: { readonly channels: readonly Channel[] }) {
  return (
    <PlainTable
      caption="Health of the channels"
      columns={COLUMNS}
      rows={channels}
      rowKey={({ id }) => id}
      exportName={['channel', 'health']}
    />
  )
}

const COLUMNS: readonly TableColumn<Channel>[] = [
  { id: 'id', title: 'Channel', value: ({ id }) => id },
  { id: 'state', title: 'State', value: channelState, cell: (row) => <Status state={channelState(row)} /> },
  numberColumn({ id: 'jobs', title: 'Open jobs' }, ({ open_jobs }) => open_jobs),
  numberColumn({ id: 'requests', title: 'Calls a minute' }, ({ figures }) => figures?.requests),
  numberColumn({ id: 'errors', title: 'Errors' }, ({ figures }) => figures?.errors),
  numberColumn({ id: 'p50', title: 'p50 ms' }, ({ figures }) => rounded(figures?.p50_ms)),
  numberColumn({ id: 'p95', title: 'p95 ms' }, ({ figures }) => rounded(figures?.p95_ms)),
]

function rounded(milliseconds: number | null | undefined): number | null {
  return milliseconds === null || milliseconds === undefined ? null : Math.round(milliseconds)
}
