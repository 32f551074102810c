import { useQuery } from '@tanstack/preact-query'
import { type Access, mayDo } from '../core/console-page.ts'
import { adminRequest, whenSignedOut } from './admin-request.ts'
import type { SignedInSession } from './admin-types.ts'
import { ApiError } from './api-error.ts'
import { keepPageSecret } from './page-secret.ts'
import { forgetPlaygroundKeys } from './playground-key.ts'
import { queryClient, SESSION } from './query-client.ts'

/** Who is signed in. Times are Unix seconds. */
export type Session = Omit<SignedInSession, 'page_secret'>

/** What a person may give to sign in. */
export type Credential = { readonly key: string } | { readonly link: string }

/** The session of this page: null when nobody is signed in, undefined while it is asked for. */
export function useSessionQuery() {
  return useQuery<Session | null, ApiError>({
    queryKey: SESSION,
    queryFn: async ({ signal }) => {
      try {
        return (await adminRequest('/session', { signal })) as Session
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) {
          return null
        }
        throw error
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The session of a page that only signed-in people see. */
export function useSession(): Session {
  const session = queryClient.getQueryData<Session | null>(SESSION)
  if (session === undefined || session === null) {
    throw new Error('this page is shown to signed-in people alone')
  }
  return session
}

/** Whether the role of the person may do this. The server decides again. */
export function useMay(access: Access): boolean {
  return mayDo(useSession().role, access)
}

/** Signs in and forgets everything that was shown to somebody else. @throws ApiError */
export async function signIn(credential: Credential): Promise<void> {
  const { page_secret, ...session } = (await adminRequest('/session', {
    method: 'POST',
    body: credential,
  })) as SignedInSession
  keepPageSecret(page_secret)
  await queryClient.cancelQueries()
  forgetPages()
  queryClient.setQueryData<Session | null>(SESSION, session)
}

/** Takes the role that the person has for a tenant, or for all of them. What was shown of another one is forgotten. @throws ApiError */
export async function switchTenant(tenant: string | null): Promise<void> {
  const session = (await adminRequest('/session', { method: 'PATCH', body: { tenant } })) as Session
  await queryClient.cancelQueries()
  forgetPlaygroundKeys()
  forgetPages()
  queryClient.setQueryData<Session | null>(SESSION, session)
}

/** Ends the session here, or every session of this person. @throws ApiError */
export async function signOut({ isEverywhere }: { readonly isEverywhere: boolean }): Promise<void> {
  await adminRequest(isEverywhere ? '/sessions' : '/session', { method: 'DELETE' })
  forgetSession()
}

/** Shows the sign-in page at the same url. */
function forgetSession(): void {
  forgetPlaygroundKeys()
  keepPageSecret(undefined)
  queryClient.setQueryData<Session | null>(SESSION, null)
  forgetPages()
}

/** What was shown to one person is not shown to the next one. The session stays: without that query the page would not hear of a new one. */
function forgetPages(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] })
}

whenSignedOut(forgetSession)
