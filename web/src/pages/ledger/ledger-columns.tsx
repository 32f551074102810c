import type { LedgerRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { amountColumn, exported, timeColumn } from '../../components/columns.tsx'
import { Id } from '../../components/copy.tsx'
import { KeyName } from '../../components/key-name.tsx'
import { Status, type Tone } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { videoUrl } from '../../core/console-url.ts'
import { keyLabel } from '../../core/key-label.ts'
import { changeOf } from '../../core/statement.ts'
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
    { id: 'id', title: 'Job or request', value: idOf, cell: (row) => <RowId row={row} tenant={tenant} /> },
    {
      id: 'model',
      title: 'Model',
      value: ({ model }) => model,
      cell: ({ model }) => model ?? <Nothing />,
    },
    {
      id: 'key',
      title: 'Key',
      value: ({ key, key_name: name }) => (key === undefined ? undefined : keyLabel(key, name)),
      cell: ({ key, key_name: name }) => <KeyName id={key} name={name} />,
    },
    {
      id: 'reason',
      title: 'Note',
      isProse: true,
      value: noteOf,
      cell: (row) => noteOf(row) ?? <Nothing />,
      isShownOnly: true,
    },
    amountColumn({ id: 'actual', title: 'Billed' }, ({ actual }) => actual),
    amountColumn({ id: 'amount', title: 'Amount', isSigned: true }, changeOf),
    exported('Reference', ({ id }) => id),
    exported('Key id', ({ key }) => key),
    exported('Reason', ({ reason }) => reason),
    exported('Estimated', ({ estimated = false }) => estimated),
    exported('Operation', ({ operation }) => operation),
    exported('Channel', ({ channel }) => channel),
    exported('Reserved', ({ job, amount }) => (job === null ? null : amount)),
    exported('Usage', ({ usage }) => (usage === undefined ? null : JSON.stringify(usage))),
  ]
}

/** The job or request, the grant or the correction. */
export function idOf({ job, id }: LedgerRow): string {
  return job ?? id ?? ''
}

function noteOf({ reason, estimated }: LedgerRow): string | null {
  return reason ?? (estimated ? 'estimated' : null)
}

function RowId({ row, tenant }: { readonly row: LedgerRow; readonly tenant: string }) {
  const id = idOf(row)
  return isVideoOperation(row.operation) ? (
    <Id value={id} label="job id" href={videoUrl(id, tenant)} />
  ) : (
    <Id value={id} />
  )
}
