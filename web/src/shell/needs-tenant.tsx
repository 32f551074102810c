import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import type { TenantRow } from '../api/admin-types.ts'
import { Empty, Failure, Skeleton } from '../components/feedback.tsx'
import { urlWithFilters } from '../core/filters.ts'
import type { UrlFilters } from '../state/url-filters.ts'
import { useOneTenant } from './tenant-scope.tsx'

type NeedsTenantProps = {
  readonly url: UrlFilters
  /** Draws the page of one tenant. */
  readonly children: (tenant: string) => ComponentChildren
}

/** More buttons are a list that nobody reads. */
const BUTTONS_MAX = 12

/** For pages of one tenant, or a choice of one. */
export function NeedsTenant({ url, children }: NeedsTenantProps) {
  const { tenant, tenants } = useOneTenant(url)
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
  return rows.length === 0 ? <NoTenant /> : <TenantChoice rows={rows} />
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
