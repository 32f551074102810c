import type { LedgerRow } from '../../api/admin-types.ts'
import { Amount, Nothing } from '../../components/amount.tsx'
import { Id } from '../../components/copy.tsx'
import { Status, type Tone } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { Time } from '../../components/time.tsx'
import { sumAmounts } from '../../core/amount.ts'
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
    {
      id: 'at',
      title: 'Time',
      value: ({ at }) => new Date(at * 1000).toISOString(),
      cell: ({ at }) => <Time at={at} />,
    },
    {
      id: 'kind',
      title: 'Kind',
      value: ({ kind }) => kind,
      cell: ({ kind }) => <Status state={kind} tone={TONES[kind]} />,
    },
    { id: 'id', title: 'Job or request', value: ({ id }) => id, cell: (row) => <RowId row={row} tenant={tenant} /> },
    { id: 'model', title: 'Model', value: ({ model }) => model, cell: ({ model }) => model ?? <Nothing /> },
    {
      id: 'key',
      title: 'Key',
      value: ({ key }) => key,
      cell: ({ key }) => (key === null ? <Nothing /> : <Id value={key} label="key id" />),
    },
    {
      id: 'reason',
      title: 'Note',
      value: ({ reason, reference }) => reason ?? reference,
      cell: ({ reason, reference, estimated }) => reason ?? reference ?? (estimated ? 'estimated' : <Nothing />),
    },
    {
      id: 'actual',
      title: 'Billed',
      order: 'amount',
      value: ({ actual }) => actual,
      cell: ({ actual }) => <Amount value={actual} />,
      total: (rows) => <Amount value={sumAmounts(rows.map(({ actual }) => actual))} />,
    },
    {
      id: 'amount',
      title: 'Amount',
      order: 'amount',
      value: ({ amount }) => amount,
      cell: ({ amount }) => <Amount value={amount} isSigned />,
      total: (rows) => <Amount value={sumAmounts(rows.map(({ amount }) => amount))} isSigned />,
    },
    { id: 'operation', title: 'Operation', value: ({ operation }) => operation, isExportOnly: true },
    { id: 'channel', title: 'Channel', value: ({ channel }) => channel, isExportOnly: true },
    { id: 'reserved', title: 'Reserved', value: ({ reserved }) => reserved, isExportOnly: true },
    {
      id: 'usage',
      title: 'Usage',
      value: ({ usage }) => (usage === null ? null : JSON.stringify(usage)),
      isExportOnly: true,
    },
  ]
}

function RowId({ row, tenant }: { readonly row: LedgerRow; readonly tenant: string }) {
  return isVideoOperation(row.operation) ? (
    <a href={`/console/videos/${encodeURIComponent(row.id)}?tenant=${encodeURIComponent(tenant)}`}>
      <code>{row.id.slice(0, 8)}…</code>
    </a>
  ) : (
    <Id value={row.id} />
  )
}
