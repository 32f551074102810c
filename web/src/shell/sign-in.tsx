import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { adminRequest } from '../api/admin-request.ts'
import type { SignInMethods } from '../api/admin-types.ts'
import { ApiError } from '../api/api-error.ts'
import { expectPageSecret } from '../api/page-secret.ts'
import { signIn } from '../api/session.ts'
import { describeFailure } from '../components/action-dialog.tsx'
import { Button } from '../components/button.tsx'
import { Field } from '../components/field.tsx'
import { counted } from '../core/plural.ts'
import { useStore } from '../state/store.ts'
import { Mark } from './mark.tsx'
import { linkFailure } from './sign-in-by-fragment.ts'

/** Shown at any url of the console while nobody is signed in; the url stays. */
export function SignIn() {
  const methods = useQuery<SignInMethods>({
    queryKey: ['sign-in'],
    queryFn: async ({ signal }) => (await adminRequest('/sign-in', { signal })) as SignInMethods,
    staleTime: 60_000,
  })
  const failedLink = useStore(linkFailure)
  useEffect(() => {
    document.title = 'Sign in · Reelgate'
  }, [])
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Mark />
        <h1>Sign in to the console</h1>
        {failedLink === null ? null : (
          <p class="callout callout-bad" role="alert">
            The sign-in link did not work: {failedLink}. A link works once and for ten minutes.{' '}
            <code>npm run admin -- console link --local</code> prints another, with the <code>--data-dir</code> of{' '}
            <code>npm start</code> if it has one.
          </p>
        )}
        <KeyForm />
        {methods.data?.oidc ? <OidcLink {...methods.data.oidc} /> : null}
        {methods.data?.environment === 'local' ? (
          <p class="hint">
            <code>npm start</code> prints a link that signs in once. The demo key that it prints works here too.
          </p>
        ) : null}
      </div>
    </main>
  )
}

function KeyForm() {
  const [key, setKey] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) {
      return
    }
    if (key.trim() === '') {
      setError('Enter a key')
      return
    }
    setBusy(true)
    setError(undefined)
    try {
      await signIn({ key: key.trim() })
    } catch (failure) {
      setError(explain(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit}>
      <Field label="Admin key or API key" hint="An API key shows its own tenant and changes nothing." error={error}>
        {(control) => (
          <input
            {...control}
            type="password"
            name="key"
            autocomplete="off"
            spellcheck={false}
            placeholder="rg_admin_…"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  )
}

function explain(failure: unknown): string {
  if (failure instanceof ApiError && failure.status === 429) {
    const wait = failure.retryAfterSeconds === null ? 'a minute' : counted(failure.retryAfterSeconds, 'second')
    const what = failure.message.includes('address') ? 'failed sign-ins from this address' : 'sign-ins'
    return `Too many ${what}. Try again in ${wait}.`
  }
  if (failure instanceof ApiError && failure.status === 401) {
    return 'This key does not sign in: it is unknown, expired or revoked.'
  }
  return describeFailure(failure)
}

/**
 * A link and not a form, because the policy of the page forbids forms that end at another origin. A press is noted too: the other buttons of
 * a mouse open the link in another tab without a click.
 */
function OidcLink({ issuer, label }: NonNullable<SignInMethods['oidc']>) {
  return (
    <a
      class="button button-plain"
      href={`/admin/v1/oidc/start?to=${encodeURIComponent(hereWithFilters())}`}
      onClick={expectPageSecret}
      onPointerDown={expectPageSecret}
    >
      {label ?? `Sign in with ${hostOf(issuer)}`}
    </a>
  )
}

/** The page and its filters, written as the gateway takes them back. */
function hereWithFilters(): string {
  const query = new URLSearchParams(location.search).toString()
  return location.pathname + (query === '' ? '' : `?${query}`)
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : 'your organisation'
}
