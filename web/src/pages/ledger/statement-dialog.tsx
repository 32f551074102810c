import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { adminPages } from '../../api/admin-pages.ts'
import { useAdmin } from '../../api/admin-query.ts'
import { adminRequest, type Query } from '../../api/admin-request.ts'
import type { LedgerRow, TenantDetail } from '../../api/admin-types.ts'
import type { ApiError } from '../../api/api-error.ts'
import { Amount } from '../../components/amount.tsx'
import { numberColumn } from '../../components/columns.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Failure } from '../../components/feedback.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { sumAmounts } from '../../core/amount.ts'
import { fillPath } from '../../core/fill-path.ts'
import { leftOutOf } from '../../core/list-pages.ts'
import { counted } from '../../core/plural.ts'
import { Statement, type StatementLine } from '../../core/statement.ts'
import { dayTimes } from '../../core/time.ts'

type Period = {
  readonly tenant: string
  /** UTC days, both included; absent: from the first row, until now. */
  readonly from: string | undefined
  readonly to: string | undefined
}

type Read = { readonly lines: readonly StatementLine[]; readonly leftOut: string | null }

/** A period of the ledger in the form of a bank statement. Closing it stops the reading. */
export function StatementDialog({ onClose, ...period }: Period & { readonly onClose: () => void }) {
  const { tenant, from, to } = period
  const [count, setCount] = useState(0)
  const read = useQuery<Read, ApiError>({
    queryKey: ['statement', period],
    queryFn: ({ signal }) => readStatement(period, signal, setCount),
    staleTime: 0,
    gcTime: 0,
  })
  const detail = useAdmin('/tenants/{tenant_id}', {}, { tenant_id: tenant })
  return (
    <Dialog title={`Statement of ${detail.data?.name ?? tenant}`} onClose={onClose}>
      <div class="dialog-body">
        <p class="hint">
          {from ?? 'The first row'} to {to ?? 'now'}. A job or request counts on the day on which it began.
        </p>
        {read.isPending ? <Reading count={count} /> : null}
        {read.isError ? <Failure error={read.error} onRetry={() => void read.refetch()} /> : null}
        {read.data === undefined ? null : <Lines tenant={tenant} read={read.data} />}
        {detail.data === undefined ? null : (
          <p class="hint">
            Now <Amount value={detail.data.available} isRounded /> are available and{' '}
            <Amount value={detail.data.held} isRounded /> held by open jobs and requests; both are part of the balance.
          </p>
        )}
      </div>
    </Dialog>
  )
}

/** A whole ledger begins at zero. The balance at the begin of a later period follows from that of now and from all that moved since. */
async function readStatement({ tenant, from, to }: Period, signal: AbortSignal, onProgress: (count: number) => void) {
  const [begin, end] = [dayTimes(from ?? '').start, dayTimes(to ?? '').end]
  const notes: { readonly left_out: string | null }[] = []
  let count = 0
  const sumOf = async (query: Query) => {
    const statement = new Statement()
    for await (const page of adminPages<LedgerRow>('/ledger', { ...query, tenant }, signal)) {
      statement.add(page.data)
      notes.push({ left_out: page.left_out ?? null })
      count += page.data.length
      onProgress(count)
    }
    return statement
  }
  const statement = await sumOf({ from: begin, to: end })
  const openingOf = async () => {
    const later = end === undefined ? undefined : await sumOf({ from: end })
    const path = fillPath('/tenants/{tenant_id}', { tenant_id: tenant })
    const { available, held } = (await adminRequest(path, { signal })) as TenantDetail
    const back = [statement, later].map((each) => minus(each?.change() ?? '0'))
    return sumAmounts([available, held, ...back])
  }
  const opening = begin === undefined ? '0' : await openingOf()
  return { lines: statement.lines(opening), leftOut: leftOutOf(notes) }
}

function minus(amount: string): string {
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`
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
  { id: 'what', title: 'Credits', value: ({ what }) => what },
  numberColumn({ id: 'rows', title: 'Rows' }, ({ count }) => count),
  {
    id: 'amount',
    title: 'Amount',
    isAtEnd: true,
    value: ({ amount }) => amount,
    // With every digit: people add the lines.
    cell: ({ amount, count }) => <Amount value={amount} isSigned={count !== null} />,
  },
]

function Lines({ tenant, read }: { readonly tenant: string; readonly read: Read }) {
  return (
    <>
      {read.leftOut === null ? null : <p class="callout callout-warn">Left out: {read.leftOut}.</p>}
      <PlainTable
        caption="Statement"
        columns={COLUMNS}
        rows={read.lines}
        rowKey={({ what }) => what}
        exportName={['statement', tenant]}
        leftOut={read.leftOut}
      />
    </>
  )
}
