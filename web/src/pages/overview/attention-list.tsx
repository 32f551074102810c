import type { Overview } from '../../api/admin-types.ts'
import { Status } from '../../components/status.tsx'
import { tenantUrl } from '../../core/console-url.ts'

type Attention = Overview['attention'][number]

/** What needs a person, the critical first; a quiet line when nothing does. */
export function AttentionList({ attention }: { readonly attention: readonly Attention[] }) {
  if (attention.length === 0) {
    return (
      <p class="callout callout-good">
        <span>Nothing needs you now.</span>
      </p>
    )
  }
  const ordered = attention.toSorted(
    (left, right) => Number(left.level !== 'critical') - Number(right.level !== 'critical'),
  )
  return (
    <section class="card" aria-label="Needs attention">
      <div class="card-head">
        <h2>Needs attention</h2>
        <span class="hint">{attention.length}</span>
      </div>
      <ul class="attention">
        {ordered.map((item) => (
          <li key={`${item.kind} ${item.tenant?.id} ${item.target} ${item.message}`}>
            <Status state={item.level} />
            <a href={hrefOf(item)}>{item.message}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Where the matter can be looked at. */
function hrefOf({ kind, tenant, target }: Attention): string {
  const ofTenant = tenant === null ? '' : `?tenant=${encodeURIComponent(tenant.id)}`
  if (kind === 'breaker' || kind === 'channel_disabled') {
    return '/console/channels'
  }
  if (kind === 'failing_requests') {
    return '/console/requests?failed=true'
  }
  if (kind === 'failing_jobs') {
    return `/console/videos${ofTenant === '' ? '?' : `${ofTenant}&`}status=failed`
  }
  if (kind === 'budget' && target !== null) {
    return `/console/keys${ofTenant}`
  }
  return tenant === null ? '/console/tenants' : tenantUrl(tenant.id)
}
