import { signIn } from '../api/session.ts'
import { describeFailure } from '../components/action-dialog.tsx'
import { createStore } from '../state/store.ts'

/** Why the link of the url did not sign in; null if there was none or it did. */
export const linkFailure = createStore<string | null>(null)

/** A one-time secret, such as `#link=rg_link_...`. A fragment is sent to no server, so it stands in no log. */
const LINK = /^#link=([\w-]+)$/

/** Takes the secret of a sign-in link out of the url at once, before it can be copied, and posts it. Never rejects. */
export async function signInByFragment(): Promise<void> {
  const link = LINK.exec(location.hash)?.[1]
  if (link === undefined) {
    return
  }
  history.replaceState(null, '', location.pathname + location.search)
  try {
    await signIn({ link })
  } catch (failure) {
    linkFailure.set(describeFailure(failure))
  }
}
