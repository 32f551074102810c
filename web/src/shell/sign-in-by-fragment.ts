import { takePageSecret } from '../api/page-secret.ts'
import { signIn } from '../api/session.ts'
import { describeFailure } from '../components/action-dialog.tsx'
import { notify } from '../state/notices.ts'
import { createStore } from '../state/store.ts'

/** Why the link of the url did not sign in; null if there was none or it did. */
export const linkFailure = createStore<string | null>(null)

/** A one-time secret, such as `#link=OwQ-8QGr...`. A fragment is sent to no server, so it stands in no log. */
const LINK = /^#link=([\w-]+)$/

/** On loopback a sign-in elsewhere, which has already set the cookie, hands over the secret of the page. */
const PAGE_SECRET = /^#page=([\w-]+)$/

/** Takes a secret out of the url at once, before it can be copied, and signs in with it. Never rejects. */
export async function signInByFragment(): Promise<void> {
  const { hash } = location
  const [link, secret] = [LINK.exec(hash)?.[1], PAGE_SECRET.exec(hash)?.[1]]
  if (link === undefined && secret === undefined) {
    return
  }
  history.replaceState(null, '', location.pathname + location.search)
  if (secret !== undefined) {
    takePageSecret(secret)
  }
  if (link === undefined) {
    return
  }
  try {
    await signIn({ link })
  } catch (failure) {
    linkFailure.set(describeFailure(failure))
    notify('The sign-in link did not work', 'bad')
  }
}
