import type { VideoRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { amountColumn, exported, timeColumn } from '../../components/columns.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { progressWords } from '../../core/progress-words.ts'
import { duration } from '../../core/time.ts'
import { VideoPreview } from './video-preview.tsx'

/** Whether a job may still change. */
export function isOpen({ status }: Pick<VideoRow, 'status'>): boolean {
  return status === 'queued' || status === 'processing'
}

/** The columns of the video jobs. */
export function videoColumns(): readonly TableColumn<VideoRow>[] {
  return [
    timeColumn({ id: 'created', title: 'Created' }, ({ created_at }) => created_at),
    {
      id: 'video',
      title: 'Video',
      isProse: true,
      value: ({ id }) => id,
      // Another state is another look at the job.
      cell: (row) => <VideoPreview key={stateOf(row)} row={row} />,
      isShownOnly: true,
    },
    exported('Id', ({ id }) => id),
    exported('Tenant', ({ tenant }) => tenant.id),
    {
      id: 'status',
      title: 'Status',
      order: 'text',
      value: stateOf,
      cell: (row) => <VideoStatus row={row} />,
    },
    {
      id: 'model',
      title: 'Model',
      order: 'text',
      value: ({ model }) => model,
    },
    {
      id: 'shape',
      title: 'Length and size',
      value: shapeOf,
      cell: (row) => shapeOf(row) ?? <Nothing />,
      isShownOnly: true,
    },
    exported('Length s', ({ duration: seconds }) => seconds),
    exported('Resolution', ({ resolution }) => resolution),
    { id: 'channel', title: 'Channel', value: ({ channel }) => channel, cell: ({ channel }) => channel ?? <Nothing /> },
    {
      id: 'took',
      title: 'Took',
      order: 'number',
      value: ({ created_at, ended_at }) => (ended_at === null ? null : ended_at - created_at),
      cell: ({ created_at, ended_at }) => (ended_at === null ? <Nothing /> : duration(ended_at - created_at)),
      isShownOnly: true,
    },
    amountColumn({ id: 'cost', title: 'Cost' }, ({ cost }) => cost),
    timeColumn({ id: 'ended', title: 'Ended' }, ({ ended_at }) => ended_at, { isExportOnly: true }),
    exported('Reserved', ({ estimate }) => estimate),
    exported('Error', ({ error }) => error),
  ]
}

function stateOf({ status, cancelled }: Pick<VideoRow, 'status' | 'cancelled'>): string {
  return cancelled && status === 'failed' ? 'cancelled' : status
}

/** The status of a job, with its progress while it is open and its error when it has failed. */
export function VideoStatus({
  row,
}: {
  readonly row: Pick<VideoRow, 'status' | 'percent' | 'eta_seconds' | 'error' | 'cancelled'>
}) {
  return (
    <span class="nowrap" title={row.error ?? undefined}>
      <Status state={stateOf(row)} />
      {isOpen(row) ? progressWords(row) : ''}
    </span>
  )
}

function shapeOf({ duration: seconds, resolution }: VideoRow): string | null {
  return [seconds === null ? null : `${seconds} s`, resolution].filter((part) => part !== null).join(', ') || null
}
