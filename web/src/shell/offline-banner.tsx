import { isReachable } from '../state/reachability.ts'
import { useStore } from '../state/store.ts'

/** Says that the gateway does not respond; what was loaded stays on the page. */
export function OfflineBanner() {
  const isOnline = useStore(isReachable)
  return isOnline ? null : (
    <div class="offline" role="alert">
      The gateway does not respond. What you see may be old; the console tries again by itself.
    </div>
  )
}
