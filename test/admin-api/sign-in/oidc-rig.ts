import { consoleSettings, type OidcSettings } from '#core/catalogue/gateway-config.ts'
import type { Table } from '#store/table/table.ts'
import { Browser, type Received } from './browser.ts'

const START = '/admin/v1/oidc/start'
export const CALLBACK = '/admin/v1/oidc/callback'

/** A navigation: the browser sends neither Origin nor our own headers. */
const NAVIGATION = { origin: undefined, 'x-reelgate-console': undefined, 'x-reelgate-page': undefined }

/** The settings of a provider whose group `admins` are owners, as `CONSOLE_OIDC` has them. */
export function settingsFor(
  issuer: string,
  rules: readonly object[] = [
    { name: 'viewers', when: { groups: 'readers' }, role: 'viewer' },
    { name: 'owners', when: { groups: 'admins' }, role: 'owner' },
  ],
): OidcSettings {
  const { oidc } = consoleSettings.parse({ oidc: { issuer, client_id: 'console', rules } })
  if (oidc === undefined) {
    throw new Error('the test has no provider')
  }
  return oidc
}

/** A browser that began a sign-in, with the address to which it was sent. */
export async function begin(table: () => Table, query: Record<string, string> = {}) {
  const page = new Browser(table)
  const started = await page.send('GET', START, { query, headers: NAVIGATION })
  return { page, started, location: new URL(String(started.headers.location ?? 'http://nowhere')) }
}

/** Comes back from the provider. */
export function comeBack(page: Browser, query: Record<string, string>, from?: string): Promise<Received> {
  return page.send('GET', CALLBACK, { query, headers: NAVIGATION, ...(from === undefined ? {} : { from }) })
}
