import * as z from 'zod'
import { amountField, isoTimeField, pageFields, usageCounts } from '#core/admin/read-responses.ts'
import { listRequests } from '#lambdas/admin/requests.ts'
import { formatTable } from '../output.ts'
import { type Command, readCount } from './command.ts'
import { documentOperation } from './document.ts'
import { findKey } from './keys.ts'
import { commandOf } from './operation-command.ts'
import { findTenantId } from './read-options.ts'

const request = z.strictObject({
  id: z.string().describe('As `x-request-id` of its response, and in the ledger.'),
  tenant: z.string().describe('Id of the tenant.'),
  at: isoTimeField.describe('When it was reserved.'),
  key: z.string().nullable().describe('Public id of the API key.'),
  key_name: z.string().nullable(),
  model: z.string().nullable(),
  channel: z.string().nullable().describe('What served it, or failed last. For owners and viewers.'),
  operation: z.string().nullable().describe('Such as `create-chat-completion`.'),
  status: z
    .int()
    .nullable()
    .describe('Of the response; null for a client that left before it, or a process that ended.'),
  failure: z
    .string()
    .nullable()
    .describe(
      'The code of the error: that of the client, such as `upstream_auth`; `request_refused` by the upstream; `client_gone`. Null for a success.',
    ),
  cause: z
    .string()
    .nullable()
    .describe(
      'What the upstream said, as a code or a fixed phrase: `HTTP 401 invalid_api_key`. For owners and viewers.',
    ),
  usage: usageCounts.nullable(),
  cost: amountField.describe('What was billed.'),
  estimated: z.boolean().describe('Billed without reported usage.'),
  first_byte_milliseconds: z.int().nullable().describe('Until the head of the response.'),
  milliseconds: z.int().describe('From the reservation to the settlement.'),
})

/** The operation, as people read about it. */
export const listRequestsDocument = documentOperation(listRequests, {
  summary: 'list recent relayed requests, newest first, with why they failed',
  description:
    'From the rows that settled or released their reservations: requests that were refused before one, of models without a price, or that still run are not in it.',
  returns: 'Requests, newest first.',
  output: z.strictObject({ requests: z.array(request), ...pageFields }),
})

/** The part of the response that has a name of its own in `admin-openapi.json`. */
export const REQUEST_SCHEMAS = { RelayedRequest: request }

const COLUMNS = [
  'AT',
  'TENANT',
  'KEY',
  'MODEL',
  'CHANNEL',
  'STATUS',
  'IN',
  'OUT',
  'COST',
  'FIRST BYTE',
  'FAILURE',
  'ID',
]

type RequestRow = Awaited<ReturnType<typeof listRequests.run>>['requests'][number]

/** Lists recent relayed requests, those that failed too. */
export const requestList: Command = commandOf(listRequestsDocument, {
  name: 'requests',
  details: `From the ledger: requests that had a reservation and have ended; those of models without a price had none.
FAILURE is the code that the client got, and what the upstream said.
Without --tenant, those of all tenants together.`,
  options: {
    tenant: { value: 'ID|NAME', summary: 'only this tenant', find: findTenantId },
    key: {
      value: 'ID|NAME',
      summary: 'only requests with this key',
      find: async (table, text) => (await findKey(table, text)).keyId,
    },
    model: { value: 'ID', summary: 'only requests for this model' },
    failed: { summary: 'only those that failed' },
    limit: { value: 'N', summary: 'maximum number of requests; default: 50', read: (text) => readCount('limit', text) },
  },
  examples: [
    'requests --tenant demo --local',
    'requests --failed --limit 20 --stage prod',
    'requests --model chat-default --json',
  ],
  format: ({ requests }) => formatTable(COLUMNS, requests.map(cellsOf)),
})

function cellsOf(row: RequestRow): (string | null)[] {
  const { usage, first_byte_milliseconds: firstByte, failure, cause } = row
  const input = usage === null ? null : usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens
  return [
    ...[
      row.at,
      row.tenant,
      row.key_name ?? row.key,
      row.model,
      row.channel,
      row.status === null ? null : String(row.status),
    ],
    ...[input === null ? null : String(input), usage === null ? null : String(usage.output_tokens), row.cost],
    firstByte === null ? null : `${firstByte} ms`,
    ...[cause === null ? failure : `${failure}: ${cause}`, row.id],
  ]
}
