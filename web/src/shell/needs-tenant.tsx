import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import type { TenantRow } from '../api/admin-types.ts'
import { useMay } from '../api/session.ts'
import { Empty, Failure, Skeleton } from '../components/feedback.tsx'
import { urlWithFilters } from '../core/filters.ts'
import type { UrlFilters } from '../state/url-filters.ts'
import { useTenantScope, useTenants } from './tenant-scope.tsx'

type NeedsTenantProps = {
  readonly url: UrlFilters
  /** Draws the page of one tenant. */
  readonly children: (tenant: string) => ComponentChildren
}

/** More buttons are a list that nobody reads. */
const BUTTONS_MAX = 12

/** For pages of one tenant: the one of the url or of the session, the only one there is, or a choice. */
export function NeedsTenant({ url, children }: NeedsTenantProps) {
  const tenant = useTenantScope(url)
  const seesAll = useMay('viewer')
  const tenants = useTenants({ isEnabled: seesAll && tenant === undefined })
  if (tenant !== undefined) {
    return <>{children(tenant)}</>
  }
  if (tenants.isError) {
    return <Failure error={tenants.error} onRetry={() => void tenants.refetch()} />
  }
  const rows = tenants.data?.tenants
  if (rows === undefined) {
    return <Skeleton />
  }
  const [only, ...others] = rows
  if (only !== undefined && others.length === 0) {
    return <>{children(only.id)}</>
  }
  return only === undefined ? <NoTenant /> : <TenantChoice rows={rows} />
}

function NoTenant() {
  return (
    <Empty title="There is no tenant yet">
      <a href="/console/tenants">Create the first one</a>
    </Empty>
  )
}

function TenantChoice({ rows }: { readonly rows: readonly TenantRow[] }) {
  const { path, query } = useLocation()
  const isShort = rows.length <= BUTTONS_MAX
  return (
    <Empty title="Choose a tenant">
      <p>
        Jobs and ledgers are stored by tenant, so this page shows one tenant at a time.{' '}
        {isShort ? 'Choose one here.' : 'Choose one here, or in the field Tenant above.'}
      </p>
      <ul class="choices">
        {rows.slice(0, BUTTONS_MAX).map(({ id, name }) => (
          <li key={id}>
            <a class="button button-plain" href={urlWithFilters(path, query, { tenant: id })}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </Empty>
  )
}
