import type { VideoRow } from '../../api/admin-types.ts'
import { Amount, Nothing } from '../../components/amount.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { Time } from '../../components/time.tsx'
import { sumAmounts } from '../../core/amount.ts'
import { duration } from '../../core/time.ts'

/** Whether a job may still change. */
export function isOpen({ status }: Pick<VideoRow, 'status'>): boolean {
  return status === 'queued' || status === 'processing'
}

/** The columns of the video jobs. */
export function videoColumns(): readonly TableColumn<VideoRow>[] {
  return [
    {
      id: 'created',
      title: 'Created',
      value: ({ created_at }) => new Date(created_at * 1000).toISOString(),
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    { id: 'id', title: 'Id', value: ({ id }) => id, isExportOnly: true },
    {
      id: 'status',
      title: 'Status',
      order: 'text',
      value: ({ status }) => status,
      cell: (row) => <VideoStatus row={row} />,
    },
    { id: 'model', title: 'Model', order: 'text', value: ({ model }) => model },
    { id: 'shape', title: 'Length and size', value: shapeOf, cell: (row) => shapeOf(row) || <Nothing /> },
    { id: 'channel', title: 'Channel', value: ({ channel }) => channel, cell: ({ channel }) => channel ?? <Nothing /> },
    {
      id: 'took',
      title: 'Took',
      order: 'number',
      value: ({ created_at, ended_at }) => (ended_at === null ? null : ended_at - created_at),
      cell: ({ created_at, ended_at }) => (ended_at === null ? <Nothing /> : duration(ended_at - created_at)),
    },
    {
      id: 'cost',
      title: 'Cost',
      order: 'amount',
      value: ({ cost }) => cost,
      cell: ({ cost }) => <Amount value={cost} />,
      total: (rows) => <Amount value={sumAmounts(rows.map(({ cost }) => cost))} />,
    },
    { id: 'error', title: 'Error', value: ({ error }) => error, isExportOnly: true },
  ]
}

/** The status of a job, with its progress while it is open and its error when it has failed. */
export function VideoStatus({ row }: { readonly row: Pick<VideoRow, 'status' | 'percent' | 'error'> }) {
  const percent = isOpen(row) && row.percent !== null ? ` ${Math.floor(row.percent)} %` : ''
  return (
    <span class="nowrap" title={row.error ?? undefined}>
      <Status state={row.status} />
      {percent}
    </span>
  )
}

function shapeOf({ duration: seconds, resolution }: VideoRow): string {
  return [seconds === null ? null : `${seconds} s`, resolution].filter((part) => part !== null).join(', ')
}
