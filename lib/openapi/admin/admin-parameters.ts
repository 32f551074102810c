import type { AdminRoute } from '#core/admin/routes.ts'
import type { JsonSchema } from '../json-schema.ts'
import type { Parameter } from '../openapi-types.ts'

type AdminParameter = Parameter & { readonly required?: boolean }

type Described = { readonly description: string; readonly schema: JsonSchema }

const text = (description: string): Described => ({ description, schema: { type: 'string' } })
const time = (description: string): Described => ({ description, schema: { type: 'integer', minimum: 0 } })
const choice = (description: string, values: readonly string[]): Described => ({
  description,
  schema: { type: 'string', enum: values },
})

const PATH: Readonly<Record<string, Described>> = {
  job_id: text('Id of the video job.'),
  tenant_id: text('Id of the tenant.'),
  key_id: text('Public id of the API key.'),
  channel_id: text('Id of the channel.'),
  model: text('Id of the model, percent-encoded.'),
  session_id: text('Id of the session.'),
}

/** Every query parameter. */
const QUERY: Readonly<Record<string, Described>> = {
  tenant: text('Id of the tenant. An API key may name its own alone.'),
  from: text('First moment: a day in UTC, or Unix seconds where the rows are times.'),
  to: text('Last moment, in the same form; a day is included.'),
  group_by: text('Some of `day`, `model`, `key`, `operation` and, for all tenants, `tenant`, separated by commas.'),
  status: choice('Jobs with this status.', ['queued', 'processing', 'succeeded', 'failed', 'expired']),
  model: text('Jobs of this model.'),
  created_after: time('Jobs made at this time or later, Unix seconds.'),
  created_before: time('Jobs made before this time, Unix seconds.'),
  kind: choice('Rows of this kind.', ['grant', 'adjust', 'reserve', 'settle', 'release']),
  id: text('Rows of this job, request, grant or correction.'),
  since: time('Entries at this time or later, Unix seconds.'),
  until: time('Entries before this time, Unix seconds.'),
  actor: text('Entries whose actor contains this string.'),
  target: text('Entries about this target, or about a key or job of this tenant.'),
  action: text('Entries with this action, such as `key revoke`.'),
  after: text('`next` of the page before.'),
  limit: { description: 'Rows per page.', schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
  code: text('Of the provider.'),
  state: text('Of the provider.'),
  iss: text('Of the provider.'),
  error: text('Of the provider.'),
  error_description: text('Of the provider.'),
  error_uri: text('Of the provider.'),
  session_state: text('Of the provider.'),
  scope: text('Of the provider.'),
}

/** Where a name of the list means something else. */
const OF_OPERATION: Readonly<Record<string, Readonly<Record<string, Described>>>> = {
  'start-oidc': {
    to: text('Page of the console to come back to, with its query, such as `/console/videos?status=failed`.'),
  },
  'get-usage': {
    from: { description: 'First day, UTC; default: 29 days before `to`.', schema: { type: 'string', format: 'date' } },
    to: { description: 'Last day, UTC; default: today.', schema: { type: 'string', format: 'date' } },
    limit: { description: 'Groups per page.', schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 1_000 } },
  },
  'list-ledger': {
    from: time('Rows of jobs and requests that began at this time or later, Unix seconds.'),
    to: time('Rows of jobs and requests that began before this time, Unix seconds.'),
  },
}

/** On every request that changes something: a page of another site cannot send this header. */
const CONSOLE_HEADER: Parameter = {
  name: 'x-reelgate-console',
  in: 'header',
  description: 'Always `1`.',
  schema: { type: 'string', enum: ['1'] },
}

/**
 * The parameters of an operation, from its row.
 * @throws RangeError for a parameter without a description.
 */
export function adminParameters({ operation, method, path, query = [] }: AdminRoute): readonly AdminParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const described = (name: string, table: Readonly<Record<string, Described>>) => {
    const found = OF_OPERATION[operation]?.[name] ?? table[name]
    if (found === undefined) {
      throw new RangeError(`no description of the parameter ${name} of ${operation}`)
    }
    return found
  }
  return [
    ...names.map((name) => ({ name, in: 'path' as const, required: true, ...described(name, PATH) })),
    ...query.map((name) => ({ name, in: 'query' as const, ...described(name, QUERY) })),
    ...(method === 'GET' ? [] : [{ ...CONSOLE_HEADER, required: true }]),
  ]
}
