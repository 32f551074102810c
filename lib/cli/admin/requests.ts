import { listRequestsDocument } from '#lambdas/admin/requests.docs.ts'
import type { listRequests } from '#lambdas/admin/requests.ts'
import { formatTable } from '../output.ts'
import { type Command, readCount } from './command.ts'
import { findKey } from './keys.ts'
import { commandOf } from './operation-command.ts'
import { findTenantId } from './read-options.ts'

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
  details: `From the ledger: requests that had a reservation and have ended. FAILURE is the code that the client got, and what the upstream said.
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
