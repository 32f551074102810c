import { useQuery } from '@tanstack/preact-query'
import { useEffect, useId, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { adminPages } from '../api/admin-pages.ts'
import { useAdmin } from '../api/admin-query.ts'
import type { TenantRow } from '../api/admin-types.ts'
import { useMay, useSession } from '../api/session.ts'
import { SelectFilter, useDraft } from '../components/filter-bar.tsx'
import { urlWithFilters } from '../core/filters.ts'
import { changeSettings, settings } from '../state/settings.ts'
import type { UrlFilters } from '../state/url-filters.ts'

/** As many as a list to choose from can hold, which is one page of the API. */
const TENANTS_LISTED = 200

/** As many as are suggested while somebody types; the id of any other can be typed. */
const TENANTS_SUGGESTED = 2_000

const SUGGESTED_MILLISECONDS = 300_000

const ALL = 'All tenants'

/** The tenant that a page is about: the one of the url, or the one of a role of one tenant; undefined means all. The choice is kept. */
export function useTenantScope(url: UrlFilters): string | undefined {
  const { tenant } = useSession()
  const chosen = url.filters.tenant
  useEffect(() => {
    if (chosen !== undefined && chosen !== settings.get().tenant) {
      changeSettings({ tenant: chosen })
    }
  }, [chosen])
  return tenant?.id ?? chosen
}

/**
 * The tenant of a page that shows one tenant at a time: that of its scope, the only one there is, or the one that was looked at last, which
 * then stands in the url too. Undefined while nothing is known, and where there is a choice.
 */
export function useOneTenant(url: UrlFilters) {
  const { path, query, route } = useLocation()
  const scope = useTenantScope(url)
  const tenants = useTenants({ isEnabled: useMay('finance') && scope === undefined })
  const tenant = scope ?? (tenants.data === undefined ? undefined : presumedTenant(tenants.data))
  useEffect(() => {
    if (scope === undefined && tenant !== undefined) {
      route(urlWithFilters(path, query, { tenant }), true)
    }
  })
  return { tenant, tenants }
}

type Tenants = { readonly tenants: readonly TenantRow[]; readonly has_more: boolean }

function presumedTenant({ tenants, has_more }: Tenants): string | undefined {
  const [only, ...others] = tenants
  const last = settings.get().tenant
  if (others.length === 0) {
    return only?.id
  }
  const isKnown = tenants.some(({ id }) => id === last) || (has_more && last !== '')
  return isKnown ? last : undefined
}

/** The first tenants by id, for people who see several. */
export function useTenants({ isEnabled }: { readonly isEnabled: boolean }) {
  return useAdmin('/tenants', { query: { limit: TENANTS_LISTED }, isEnabled })
}

/** Says the name of a tenant, or its id where the name is not among the first. */
export function useTenantNames(): (id: string) => string {
  const tenants = useTenants({ isEnabled: useMay('finance') })
  const { tenant } = useSession()
  const known = tenant === null ? (tenants.data?.tenants ?? []) : [tenant]
  return (id) => known.find((each) => each.id === id)?.name ?? id
}

/** Chooses the tenant of a page, for people who see several: from a list, or by typing where there are many. */
export function TenantFilter({ url, any = ALL }: { readonly url: UrlFilters; readonly any?: string }) {
  const seesAll = useMay('finance')
  const tenants = useTenants({ isEnabled: seesAll })
  if (!seesAll) {
    return null
  }
  const rows = tenants.data?.tenants ?? []
  // The only tenant needs no choice.
  if (rows.length === 1 && [undefined, rows[0]?.id].includes(url.filters.tenant) && any !== ALL) {
    return null
  }
  const kept = { ...url, change: keepChoice(url) }
  if (tenants.data?.has_more === true) {
    return <TenantSearch url={kept} any={any} />
  }
  const options = rows.map((row) => [row.id, titleOf(row)] as const)
  return <SelectFilter url={kept} name="tenant" label="Tenant" any={any} options={options} />
}

/** A choice of none is kept too. */
function keepChoice({ change }: UrlFilters): UrlFilters['change'] {
  return (changes) => {
    changeSettings({ tenant: changes.tenant ?? '' })
    change(changes)
  }
}

/** A field that suggests tenants by id and by name, and takes the id of any. The suggestions are read when the field first has the focus. */
function TenantSearch({ url, any }: { readonly url: UrlFilters; readonly any: string }) {
  const [isUsed, setUsed] = useState(false)
  const [draft, setDraft] = useDraft(url.filters.tenant ?? '')
  const id = useId()
  const tenants = useQuery({
    queryKey: ['tenants to choose from'],
    queryFn: ({ signal }) => readTenants(signal),
    enabled: isUsed,
    staleTime: SUGGESTED_MILLISECONDS,
  })
  const { rows = [], isWhole = true } = tenants.data ?? {}
  return (
    <div class="filter">
      <label for={id}>
        {isWhole ? 'Tenant' : `Tenant (any id; the first ${rows.length.toLocaleString('en')} are listed)`}
      </label>
      <input
        id={id}
        data-filter
        type="search"
        list={`${id}-tenants`}
        placeholder={any}
        autocomplete="off"
        spellcheck={false}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onFocus={() => setUsed(true)}
        onChange={(event) => url.change({ tenant: event.currentTarget.value.trim() })}
      />
      <datalist id={`${id}-tenants`}>
        {rows.map((row) => (
          <option key={row.id} value={row.id}>
            {titleOf(row)}
          </option>
        ))}
      </datalist>
    </div>
  )
}

async function readTenants(signal: AbortSignal) {
  const rows: TenantRow[] = []
  for await (const page of adminPages<TenantRow>('/tenants', {}, signal)) {
    rows.push(...page.data)
    if (page.has_more && rows.length >= TENANTS_SUGGESTED) {
      return { rows, isWhole: false }
    }
  }
  return { rows, isWhole: true }
}

function titleOf({ id, name }: TenantRow): string {
  return name === id ? id : `${name} (${id})`
}
