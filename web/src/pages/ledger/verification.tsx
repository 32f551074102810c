import { useAdmin } from '../../api/admin-query.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { Time } from '../../components/time.tsx'
import { counted } from '../../core/plural.ts'

/** Checks every invariant of a tenant's ledger and says which are broken. */
export function Verification({ tenant, onClose }: { readonly tenant: string; readonly onClose: () => void }) {
  const result = useAdmin('/ledger/verification', { query: { tenant } })
  return (
    <Dialog title={`Verification of ${tenant}`} onClose={onClose}>
      <div class="dialog-body" aria-live="polite">
        {result.isPending ? <Skeleton rows={2} label="Verifying the ledger" /> : null}
        {result.isError ? <Failure error={result.error} onRetry={() => void result.refetch()} /> : null}
        {result.data === undefined ? null : (
          <>
            <p class={`callout ${result.data.ok ? 'callout-good' : 'callout-bad'}`}>
              {result.data.ok
                ? 'Every row and the balance agree.'
                : `${counted(result.data.broken.length, 'rule does', 'rules do')} not hold.`}
            </p>
            <ul class="findings">
              {result.data.broken.map(({ message }) => (
                <li key={message}>{message}</li>
              ))}
            </ul>
            <p class="hint">
              Checked <Time at={result.data.as_of} />
            </p>
          </>
        )}
      </div>
    </Dialog>
  )
}
