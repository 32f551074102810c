import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { type List, useAdmin } from '../../api/admin-query.ts'
import type { LedgerRow } from '../../api/admin-types.ts'
import type { ApiError } from '../../api/api-error.ts'
import { Amount } from '../../components/amount.tsx'
import { amountColumn, countColumn } from '../../components/columns.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Failure } from '../../components/feedback.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import type { Filters } from '../../core/filters.ts'
import { leftOutOf } from '../../core/list-pages.ts'
import { counted } from '../../core/plural.ts'
import { Statement, type StatementLine } from '../../core/statement.ts'

type StatementDialogProps = {
  readonly tenant: string
  readonly filters: Filters
  readonly list: List<LedgerRow>
  /** Whether no filter leaves rows out, so that the sum is the balance. */
  readonly isWhole: boolean
  readonly onClose: () => void
}

type Read = { readonly lines: readonly StatementLine[]; readonly leftOut: string | null }

/** The filtered rows in the form of a bank statement: what each kind has changed, and the balance that follows. Closing it stops the reading. */
export function StatementDialog({ tenant, filters, list, isWhole, onClose }: StatementDialogProps) {
  const [count, setCount] = useState(0)
  const read = useQuery<Read, ApiError>({
    queryKey: ['statement', tenant, filters],
    queryFn: ({ signal }) => readStatement(list, signal, setCount),
    staleTime: 0,
    gcTime: 0,
  })
  const detail = useAdmin('/tenants/{tenant_id}', {}, { tenant_id: tenant })
  return (
    <Dialog title={`Statement of ${detail.data?.name ?? tenant}`} onClose={onClose}>
      <div class="dialog-body">
        {read.isPending ? <Reading count={count} /> : null}
        {read.isError ? <Failure error={read.error} onRetry={() => void read.refetch()} /> : null}
        {read.data === undefined ? null : <Lines tenant={tenant} read={read.data} />}
        {isWhole && detail.data !== undefined ? (
          <p class="hint">
            Available now: <Amount value={detail.data.available} />. Reservations that are still open are part of it.
          </p>
        ) : (
          <p class="hint">Of the rows that the filters leave.</p>
        )}
      </div>
    </Dialog>
  )
}

async function readStatement(list: List<LedgerRow>, signal: AbortSignal, onProgress: (count: number) => void) {
  const statement = new Statement()
  const notes: { readonly left_out: string | null }[] = []
  let count = 0
  for await (const page of list.pages(signal)) {
    statement.add(page.data)
    notes.push({ left_out: page.left_out ?? null })
    count += page.data.length
    onProgress(count)
  }
  return { lines: statement.lines(), leftOut: leftOutOf(notes) }
}

function Reading({ count }: { readonly count: number }) {
  return (
    <div class="export" aria-busy="true">
      <progress aria-label="Reading the ledger" />
      <span class="number">{counted(count, 'row')}</span>
    </div>
  )
}

const COLUMNS: readonly TableColumn<StatementLine>[] = [
  { id: 'kind', title: 'Kind', value: ({ kind }) => kind, total: () => 'Change' },
  countColumn({ id: 'rows', title: 'Rows' }, ({ count }) => count),
  amountColumn({ id: 'amount', title: 'Amount', isSigned: true }, ({ amount }) => amount),
]

function Lines({ tenant, read }: { readonly tenant: string; readonly read: Read }) {
  return (
    <>
      {read.leftOut === null ? null : <p class="callout callout-warn">Left out: {read.leftOut}.</p>}
      <PlainTable
        caption="Changes by kind"
        columns={COLUMNS}
        rows={read.lines}
        rowKey={({ kind }) => kind}
        exportName={['statement', tenant]}
        leftOut={read.leftOut}
      />
    </>
  )
}
