import type { Session } from './session.ts'

/** What a tenant is called. */
export type TenantName = { readonly id: string; readonly name: string }

/** Money that may be spent in a period; amounts are decimal strings of credits. */
export type Budget = {
  readonly amount: string
  readonly period: string
  readonly spent: string
  readonly held?: string
  readonly remaining?: string
  readonly resets_at?: number | null
}

type Page<Row> = {
  readonly data: readonly Row[]
  readonly has_more: boolean
  readonly next: string | null
  readonly as_of?: number
}

/** What needs a person. */
export type Attention = {
  readonly kind: string
  readonly level: 'warning' | 'critical'
  readonly message: string
  readonly tenant: TenantName | null
  readonly target: string | null
}

export type ChannelHealth = {
  readonly id: string
  readonly provider: string
  readonly breaker: string
  readonly disabled: boolean
  readonly open_jobs: number
  readonly figures: ChannelFigures | null
}

export type ChannelFigures = {
  readonly requests: number
  readonly errors: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

export type Overview = {
  readonly as_of: number
  readonly tenant: TenantName | null
  readonly spend: {
    readonly today: string
    readonly month: string
    readonly budget: Budget | null
    readonly days: readonly { readonly day: string; readonly cost: string; readonly requests: number }[]
  }
  readonly balance: {
    readonly available: string
    readonly held: string
    readonly spent: string
    readonly granted: string
  } | null
  readonly traffic: {
    readonly requests_per_minute: number
    readonly errors_per_minute: number
    readonly first_byte_ms: { readonly p50: number; readonly p95: number } | null
    readonly minutes: readonly { readonly at: number; readonly requests: number; readonly errors: number }[]
  } | null
  readonly open_jobs: number
  readonly tenants: number | null
  readonly channels: readonly ChannelHealth[]
  readonly attention: readonly Attention[]
}

export type Tenant = {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly suspended_reason: string | null
  readonly balance: NonNullable<Overview['balance']>
  readonly open_jobs: number
  readonly open_jobs_max: number | null
  readonly budget: Budget | null
  readonly alerts: unknown
  readonly created_at: number
}

export type Key = {
  readonly id: string
  readonly name: string | null
  readonly tenant: string
  readonly state: string
  readonly models: readonly string[] | null
  readonly rate_per_minute: number | null
  readonly budget: Budget | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly last_used_at: number | null
}

export type LedgerRow = {
  readonly at: number
  readonly kind: string
  readonly id: string
  readonly amount: string
  readonly actual: string | null
  readonly model: string | null
  readonly operation: string | null
  readonly key: string | null
  readonly channel: string | null
  readonly usage: unknown
  readonly reference: string | null
  readonly reason: string | null
}

export type AuditRow = {
  readonly id: string
  readonly at: number
  readonly actor: string
  readonly role: string | null
  readonly action: string
  readonly target: { readonly kind: string; readonly id: string }
  readonly tenant: string | null
  readonly before: unknown
  readonly after: unknown
  readonly request_id: string | null
}

export type SessionRow = Session & { readonly seen_at: number | null; readonly current: boolean }

/** What each reading request returns, by its path below `/admin/v1`. */
export type AdminReads = {
  '/overview': Overview
  '/tenants': Page<Tenant>
  '/tenants/{tenant_id}': Tenant
  '/keys': Page<Key>
  '/ledger': Page<LedgerRow>
  '/audit': Page<AuditRow>
  '/sessions': Page<SessionRow>
}

/** A row of a list. */
export type RowOf<Path extends keyof AdminReads> = AdminReads[Path] extends { readonly data: readonly (infer Row)[] }
  ? Row
  : never
