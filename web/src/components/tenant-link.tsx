import type { TenantDetail } from '../api/admin-types.ts'
import { tenantUrl } from '../core/console-url.ts'

/** A tenant by its name, as a link to its page. */
export function TenantLink({ tenant }: { readonly tenant: Pick<TenantDetail, 'id' | 'name'> }) {
  return (
    <a href={tenantUrl(tenant.id)} title={tenant.id}>
      {tenant.name}
    </a>
  )
}
