import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useAdmin } from '../api/admin-query.ts'
import { useMay } from '../api/session.ts'
import { Empty, Failure, Skeleton } from '../components/feedback.tsx'
import { urlWithFilters } from '../core/filters.ts'
import type { UrlFilters } from '../state/url-filters.ts'
import { useTenantScope } from './tenant-scope.tsx'

type NeedsTenantProps = {
  readonly url: UrlFilters
  /** Draws the page of one tenant. */
  readonly children: (tenant: string) => ComponentChildren
}

/** For pages of one tenant: the one of the url or of the session, the only one there is, or a choice. */
export function NeedsTenant({ url, children }: NeedsTenantProps) {
  const tenant = useTenantScope(url)
  const seesAll = useMay('viewer')
  const tenants = useAdmin('/tenants', { query: { limit: 200 }, isEnabled: seesAll && tenant === undefined })
  const { path, query } = useLocation()
  if (tenant !== undefined) {
    return <>{children(tenant)}</>
  }
  if (tenants.isError) {
    return <Failure error={tenants.error} onRetry={() => void tenants.refetch()} />
  }
  const rows = tenants.data?.data
  if (rows === undefined) {
    return <Skeleton />
  }
  const [only, ...others] = rows
  if (only !== undefined && others.length === 0) {
    return <>{children(only.id)}</>
  }
  return (
    <Empty title={only === undefined ? 'There is no tenant yet' : 'Choose a tenant'}>
      {only === undefined ? (
        <a href="/console/tenants">Make the first one</a>
      ) : (
        <ul class="choices">
          {rows.map(({ id, name }) => (
            <li key={id}>
              <a class="button button-plain" href={urlWithFilters(path, query, { tenant: id })}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      )}
    </Empty>
  )
}
