import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'

/** What a request of an operation sends: the values of its path, its query and its body. */
export type AdminRequest = {
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
}

const TENANT = { parameters: { tenant_id: 'acme' } }
const KEY = { parameters: { key_id: 'k1' } }
const JOB = { parameters: { job_id: '01980000-0000-7000-8000-000000000000' }, query: { tenant: 'acme' } }
const CHANNEL = { parameters: { channel_id: 'main' } }
const MODEL = { parameters: { model: PER_SECOND_MODEL } }

/** A request of each operation that gets as far as the table. `admin-chain.statuses.test.ts` fails for an operation without one. */
export const ADMIN_REQUESTS: Readonly<Record<string, AdminRequest>> = {
  'get-overview': {},
  'get-usage': { query: { tenant: 'acme' } },
  'list-videos': { query: { tenant: 'acme' } },
  'get-video': JOB,
  'list-tenants': {},
  'get-tenant': TENANT,
  'list-keys': {},
  'list-requests': { query: { tenant: 'acme' } },
  'list-ledger': { query: { tenant: 'acme' } },
  'verify-ledger': { query: { tenant: 'acme' } },
  'list-channels': {},
  'list-models': {},
  'list-audit': {},
  'list-callback-attempts': { query: { tenant: 'acme' } },
  'create-tenant': { body: { name: 'Acme' } },
  'change-tenant': { ...TENANT, body: { name: 'New' } },
  'change-alerts': { ...TENANT, body: { low_balance: '1' } },
  'grant-credits': { ...TENANT, body: { credits: '1', id: 'a' } },
  'adjust-credits': { ...TENANT, body: { amount: '1', reason: 'a', id: 'a' } },
  'suspend-tenant': TENANT,
  'resume-tenant': TENANT,
  'reveal-callback-secret': TENANT,
  'create-key': { body: { tenant: 'acme' } },
  'change-key': { ...KEY, body: { name: 'a' } },
  'rotate-key': KEY,
  'revoke-key': KEY,
  'cancel-video': JOB,
  'redrive-video': JOB,
  'resend-callback': JOB,
  'delete-video': JOB,
  'change-channel': { ...CHANNEL, body: { disabled: true } },
  'clear-channel': CHANNEL,
  'change-model': { ...MODEL, body: { disabled: true } },
  'clear-model': MODEL,
  'create-playground-key': { body: { tenant: 'acme' } },
}

/** The concrete path of a row. */
export function pathOf(path: string, { parameters = {} }: AdminRequest): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))
}
