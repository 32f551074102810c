import { signOut } from '../api/session.ts'
import { describeFailure } from '../components/action-dialog.tsx'
import { Button } from '../components/button.tsx'
import { clock } from '../state/clock.ts'
import { notify } from '../state/notices.ts'
import { useStore } from '../state/store.ts'

/** Time enough to finish what is under way. */
const NOTICE_SECONDS = 300

/** Says in time that the session ends, and leads to a new one at the same url. */
export function SessionEnd({ expiresAt }: { readonly expiresAt: number }) {
  const left = expiresAt - useStore(clock)
  if (left > NOTICE_SECONDS) {
    return null
  }
  const again = () => {
    signOut({ isEverywhere: false }).catch((failure: unknown) => notify(describeFailure(failure), 'bad'))
  }
  return (
    <div class="callout callout-warn" role="status">
      <span>Your session ends in {Math.max(1, Math.ceil(left / 60))} min.</span>
      <Button onClick={again}>Sign in again</Button>
    </div>
  )
}
