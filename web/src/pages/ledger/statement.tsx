import { useQuery } from '@tanstack/preact-query'
import { type List, useAdmin } from '../../api/admin-query.ts'
import type { LedgerRow } from '../../api/admin-types.ts'
import type { ApiError } from '../../api/api-error.ts'
import { Amount } from '../../components/amount.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { statementLines } from '../../core/statement.ts'

type StatementProps = {
  readonly tenant: string
  readonly list: List<LedgerRow>
  /** Whether no filter leaves rows out, so that the sum is the balance. */
  readonly isWhole: boolean
  readonly onClose: () => void
}

/** The filtered rows in the form of a bank statement: what each kind has changed, and the balance that follows. */
export function Statement({ tenant, list, isWhole, onClose }: StatementProps) {
  const rows = useQuery<readonly LedgerRow[], ApiError>({
    queryKey: ['statement', tenant, list.rows],
    queryFn: list.readAll,
    staleTime: 0,
  })
  const detail = useAdmin('/tenants/{tenant_id}', {}, { tenant_id: tenant })
  return (
    <Dialog title={`Statement of ${tenant}`} onClose={onClose}>
      <div class="dialog-body">
        {rows.isPending ? <Skeleton rows={5} /> : null}
        {rows.isError ? <Failure error={rows.error} onRetry={() => void rows.refetch()} /> : null}
        {rows.data === undefined ? null : <Lines rows={rows.data} />}
        {isWhole && detail.data !== undefined ? (
          <p class="hint">
            Available now: <Amount value={detail.data.balance.available} />. Reservations that are still open are part
            of it.
          </p>
        ) : (
          <p class="hint">Of the rows that the filters leave.</p>
        )}
      </div>
    </Dialog>
  )
}

function Lines({ rows }: { readonly rows: readonly LedgerRow[] }) {
  const { lines, change } = statementLines(rows)
  return (
    <table class="plain">
      <caption class="unseen">Changes by kind</caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="at-end">
            Rows
          </th>
          <th scope="col" class="at-end">
            Amount
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ kind, count, amount }) => (
          <tr key={kind}>
            <td>{kind}</td>
            <td class="at-end">{count}</td>
            <td class="at-end">
              <Amount value={amount} isSigned />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>Change</td>
          <td class="at-end">{rows.length}</td>
          <td class="at-end">
            <Amount value={change} isSigned />
          </td>
        </tr>
      </tfoot>
    </table>
  )
}
