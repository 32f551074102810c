/** The page of one video job. @param tenant is left out where the session has one. */
export function videoUrl(jobId: string, tenant?: string): string {
  return withQuery(`/console/videos/${encodeURIComponent(jobId)}`, { tenant })
}

/** The page of one tenant. */
export function tenantUrl(tenant: string): string {
  return `/console/tenants/${encodeURIComponent(tenant)}`
}

/** The ledger rows of one job or request. @param tenant is left out where the session has one. */
export function ledgerUrl(id: string, tenant?: string): string {
  return withQuery('/console/ledger', { tenant, id })
}

function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, value)
    }
  }
  return search.size === 0 ? path : `${path}?${search}`
}
