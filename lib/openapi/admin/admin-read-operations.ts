import type { AdminOperationOf } from '#core/admin/routes.ts'
import type { AdminOperationDocument } from './admin-operation-document.ts'

/** The function that reads. A new row of its routes does not compile without a description here. */
export const ADMIN_READ_OPERATIONS = {
  'get-overview': {
    summary: 'What is going on',
    description: 'For all tenants, or with `tenant` for one. An API key sees its own tenant.',
    response: { description: 'The overview.', schema: 'Overview' },
  },
  'get-usage': {
    summary: 'Usage of a tenant, or of all',
    description:
      'As `GET /v1/usage` of the gateway. Without `tenant`: all tenants, from the summary of the last minute, and `group_by` may also hold `tenant`.',
    response: { description: 'A page of groups.', schema: 'Usage' },
  },
  'list-videos': {
    summary: 'List the video jobs of a tenant',
    response: { description: 'Jobs, newest first.', schema: 'VideoList' },
  },
  'get-video': {
    summary: 'Fetch a video job',
    response: { description: 'The job.', schema: 'VideoDetail' },
  },
  'list-tenants': {
    summary: 'List the tenants',
    description: 'From the summary of the last minute.',
    response: { description: 'Tenants by id.', schema: 'TenantList' },
  },
  'get-tenant': {
    summary: 'Fetch a tenant',
    response: { description: 'The tenant.', schema: 'TenantDetail' },
  },
  'list-keys': {
    summary: 'List the API keys',
    description: 'Of all tenants, or with `tenant` of one.',
    response: { description: 'Keys by id.', schema: 'KeyList' },
  },
  'list-ledger': {
    summary: 'List the ledger of a tenant',
    description: 'In the order in which jobs and requests began.',
    response: { description: 'Rows, newest first.', schema: 'LedgerList' },
  },
  'verify-ledger': {
    summary: 'Verify the ledger of a tenant',
    description: 'Reads the whole tenant. A tenant that is too large is a 400 that names the command.',
    response: { description: 'The result.', schema: 'LedgerVerification' },
  },
  'get-channels': {
    summary: 'Channels and models',
    description: 'An API key sees the models that it may use, and no channel.',
    response: { description: 'Channels and models as they are in force.', schema: 'Channels' },
  },
  'list-audit': {
    summary: 'List the audit log',
    response: { description: 'Effects, newest first.', schema: 'AuditList' },
  },
  'list-callback-attempts': {
    summary: 'List callback attempts of a tenant',
    description: 'Of its newest jobs.',
    response: { description: 'Attempts, newest job first.', schema: 'CallbackAttemptList' },
  },
} as const satisfies Readonly<Record<AdminOperationOf<'read'>, AdminOperationDocument>>
