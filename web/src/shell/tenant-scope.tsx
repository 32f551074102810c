import { useAdmin } from '../api/admin-query.ts'
import { useMay, useSession } from '../api/session.ts'
import { SelectFilter } from '../components/filter-bar.tsx'
import type { UrlFilters } from '../state/url-filters.ts'

/** The list that a choice of tenants shows; more are reached by their urls. */
const TENANTS_MAX = 200

const ALL = 'All tenants'

/** The tenant that a page is about: the one of the url, or the one of an API key's session; undefined means all. */
export function useTenantScope(url: UrlFilters): string | undefined {
  const { tenant } = useSession()
  return tenant?.id ?? url.filters.tenant
}

/** Chooses the tenant of a page, for people who see several. */
export function TenantFilter({ url, any = ALL }: { readonly url: UrlFilters; readonly any?: string }) {
  const seesAll = useMay('viewer')
  const tenants = useAdmin('/tenants', { query: { limit: TENANTS_MAX }, isEnabled: seesAll })
  if (!seesAll) {
    return null
  }
  const rows = tenants.data?.data ?? []
  // The only tenant needs no choice.
  if (rows.length === 1 && url.filters.tenant === undefined && any !== ALL) {
    return null
  }
  const options = rows.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const)
  return <SelectFilter url={url} name="tenant" label="Tenant" any={any} options={options} />
}
