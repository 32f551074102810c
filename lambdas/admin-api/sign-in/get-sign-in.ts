import { type AdminOperation, currentSite } from '#middleware/admin-chain.ts'
import { oidcSettings } from './oidc-client.ts'
import type { SignInContext } from './sign-in-context.ts'

/** GET /admin/v1/sign-in: how users can sign in here. */
export function getSignIn({ environment }: SignInContext): AdminOperation {
  return async () => {
    const { isLoopback } = currentSite(environment)
    const settings = oidcSettings(environment)
    const oidc = settings === undefined ? null : { issuer: settings.issuer }
    const methods = ['admin_key', 'api_key', ...(oidc === null ? [] : ['oidc']), ...(isLoopback ? ['link'] : [])]
    return { body: { object: 'sign_in', methods, oidc, environment: isLoopback ? 'local' : 'aws' } }
  }
}
