import { readFileSync } from 'node:fs'
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Item } from '#adapters/store/table/item-codec.ts'
import type { TableWithClient } from './table-with-client.ts'

/** Items of one write: DynamoDB takes 25. */
const BATCH = 25

/**
 * The table of a local host of version 0.2.0, one item to a line. It ran for a minute with its clock forty days behind, then for a
 * minute at {@link EARLIER_TABLE}`.milliseconds`, and was killed with two videos and three relayed requests open. Two replacements were
 * made: the callback secrets, and the signatures of the simulated upstreams' urls.
 */
const LINES = readFileSync(new URL('../fixtures/tables/version-0.2.0.jsonl', import.meta.url), 'utf8')

const ACME = '01a136c3-96ae-7282-9e21-12bbbfa849a5'

/** What is in the table of version 0.2.0. */
export const EARLIER_TABLE = {
  /** When its host was killed. */
  milliseconds: 1_795_376_240_200,
  /** Tenants. The key of the tenant `demo` is `test-key`. */
  tenants: ['demo', ACME],
  acme: ACME,
  demoKey: 'test-key',
  revokedKeyDigest: '2419104dfa18acdd26ad6c9ee1cec992731a82248cc169b48f57585cd37df80f',
  openVideos: [
    { tenantId: ACME, jobId: '01a204c3-4b98-703d-8e51-c8549d682be1' },
    { tenantId: 'demo', jobId: '01a204c3-4bf7-70fd-9f50-a96ee4007468' },
  ],
  openRequests: [
    { tenantId: ACME, requestId: '4a817221-a823-4b3d-8979-a9250838f89c' },
    { tenantId: ACME, requestId: 'ec768c91-9f93-4a2d-b410-fc2df8eaf008' },
    { tenantId: 'demo', requestId: '125259b0-1bf3-4505-a964-f9f3e0943039' },
  ],
  settledVideo: { tenantId: ACME, jobId: '01a204c2-ad81-7633-944b-0d707b70bed0' },
  /** Settlements above zero: two videos, four chats and an image. */
  settlements: 7,
} as const

/** The items of the table of version 0.2.0. */
export function earlierItems(): Item[] {
  return LINES.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Puts the items of version 0.2.0 into a table. */
export async function fillEarlierTable({ client, name }: Pick<TableWithClient, 'client' | 'name'>): Promise<void> {
  const items = earlierItems()
  for (let start = 0; start < items.length; start += BATCH) {
    const puts = items.slice(start, start + BATCH).map((Item) => ({ PutRequest: { Item } }))
    await client.send(new BatchWriteCommand({ RequestItems: { [name]: puts } }))
  }
}
