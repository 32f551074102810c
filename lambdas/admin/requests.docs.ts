import * as z from 'zod'
import { amountField, isoTimeField, pageFields, usageCounts } from '#core/admin/read-responses.ts'
import { documentOperation } from './document.ts'
import { listRequests } from './requests.ts'

const request = z.strictObject({
  id: z.string().describe('As `x-request-id` of its response, and in the ledger.'),
  tenant: z.string().describe('Id of the tenant.'),
  at: isoTimeField.describe('When it was reserved.'),
  key: z.string().nullable().describe('Public id of the API key.'),
  key_name: z.string().nullable(),
  model: z.string().nullable(),
  channel: z.string().nullable().describe('What served it, or failed last. Null for tenants.'),
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
    .describe('What the upstream said, as a code or a fixed phrase: `HTTP 401 invalid_api_key`. Null for tenants.'),
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
