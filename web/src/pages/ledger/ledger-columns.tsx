import type { LedgerRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { amountColumn, exported, timeColumn } from '../../components/columns.tsx'
import { Id } from '../../components/copy.tsx'
import { Status, type Tone } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { videoUrl } from '../../core/console-url.ts'
import { isVideoOperation } from '../../core/video-operation.ts'

const TONES: Readonly<Record<LedgerRow['kind'], Tone>> = {
  grant: 'good',
  adjust: 'warn',
  reserve: 'idle',
  settle: 'idle',
  release: 'idle',
}

/** The columns of the ledger; what has no column of its own is exported. */
export function ledgerColumns(tenant: string): readonly TableColumn<LedgerRow>[] {
  return [
    timeColumn({ id: 'at', title: 'Time' }, ({ at }) => at),
    {
      id: 'kind',
      title: 'Kind',
      value: ({ kind }) => kind,
      cell: ({ kind }) => <Status state={kind} tone={TONES[kind]} />,
    },
    { id: 'id', title: 'Job or request', value: ({ id }) => id, cell: (row) => <RowId row={row} tenant={tenant} /> },
    {
      id: 'model',
      title: 'Model',
      value: ({ model }) => model,
      cell: ({ model }) => model ?? <Nothing />,
    },
    {
      id: 'key',
      title: 'Key',
      value: ({ key }) => key,
      cell: ({ key }) => (key === null ? <Nothing /> : <Id value={key} label="key id" />),
    },
    {
      id: 'reason',
      title: 'Note',
      isProse: true,
      value: ({ reason }) => reason,
      cell: ({ reason, estimated }) => reason ?? (estimated ? 'estimated' : <Nothing />),
      isShownOnly: true,
    },
    amountColumn({ id: 'actual', title: 'Billed' }, ({ actual }) => actual),
    amountColumn({ id: 'amount', title: 'Amount', isSigned: true }, ({ amount }) => amount),
    exported('Reference', ({ reference }) => reference),
    exported('Reason', ({ reason }) => reason),
    exported('Estimated', ({ estimated }) => estimated),
    exported('Operation', ({ operation }) => operation),
    exported('Channel', ({ channel }) => channel),
    exported('Reserved', ({ reserved }) => reserved),
    exported('Usage', ({ usage }) => (usage === null ? null : JSON.stringify(usage))),
  ]
}

function RowId({ row, tenant }: { readonly row: LedgerRow; readonly tenant: string }) {
  return isVideoOperation(row.operation) ? (
    <Id value={row.id} label="job id" href={videoUrl(row.id, tenant)} />
  ) : (
    <Id value={row.id} />
  )
}
