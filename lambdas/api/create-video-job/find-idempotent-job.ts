import { GetCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import type { Table } from '#adapters/stores/table.ts'
import { tableKeys } from '#adapters/stores/table-keys.ts'
import { IdempotencyKeyReusedError } from '#core/errors.ts'

const idempotencyItem = z.object({ bodyHash: z.string(), job: z.string() })

/**
 * The job that an idempotency key stands for.
 * @throws IdempotencyKeyReusedError when the key came with another body before.
 */
export async function findIdempotentJob(
  table: Table,
  tenantId: string,
  { digest, bodyHash }: { digest: string; bodyHash: string },
): Promise<{ tenantId: string; jobId: string }> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: tableKeys.idempotency(tenantId, digest), ConsistentRead: true }),
  )
  const stored = idempotencyItem.safeParse(Item)
  if (!stored.success || stored.data.bodyHash !== bodyHash) {
    throw new IdempotencyKeyReusedError()
  }
  return { tenantId, jobId: stored.data.job }
}
