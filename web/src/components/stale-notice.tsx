import { staleMinutes } from '../core/summary-age.ts'
import { clock } from '../state/clock.ts'
import { useStore } from '../state/store.ts'
import { Button } from './button.tsx'

type StaleNoticeProps = {
  /** When the numbers of all tenants were summed, in Unix seconds; null before they are loaded. */
  readonly asOf: number | null
  readonly onReload: () => void
}

/** Warns that the numbers of all tenants are more than five minutes old; nothing while they are fresh. */
export function StaleNotice({ asOf, onReload }: StaleNoticeProps) {
  const minutes = staleMinutes(asOf, useStore(clock))
  return minutes === undefined ? null : (
    <div class="callout callout-warn" role="status">
      <span>
        These numbers are {minutes} minutes old. If they stay old, Reconcile does not write the summary of all tenants:
        see <code>SummaryNotWritten</code> in the runbook.
      </span>
      <Button icon="reload" onClick={onReload}>
        Reload
      </Button>
    </div>
  )
}
