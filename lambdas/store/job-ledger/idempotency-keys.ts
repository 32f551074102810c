import * as z from 'zod/mini'
import { sha256Hex } from '../../platform/crypto.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** How long an idempotency key keeps its job. */
export const IDEMPOTENCY_SECONDS = 24 * 60 * 60

/** The digests of an idempotency key and of the request that came with it. */
export type IdempotentRequest = { readonly digest: string; readonly bodyHash: string }

/** With the end of its time, in Unix seconds. */
export type ExpiringKey = IdempotentRequest & { readonly expiresAt: number }

/** @param requestText the validated request with its defaults, so that two spellings of one request are equal. */
export function idempotentRequest(idempotencyKey: string, requestText: string): IdempotentRequest {
  return { digest: sha256Hex(idempotencyKey), bodyHash: sha256Hex(requestText) }
}

const idempotencyItem = z.object({ bodyHash: z.string(), job: z.string() })

/** What a key created, and from which body; undefined for a key that created nothing. */
export async function readKeyedJob(
  table: Table,
  tenantId: string,
  { digest }: IdempotentRequest,
): Promise<{ readonly job?: string; readonly bodyHash?: string } | undefined> {
  const item = await table.readItem(tableKeys.idempotency(tenantId, digest))
  return item && (idempotencyItem.safeParse(item).data ?? {})
}

/** Takes an idempotency key that is free or has expired. */
export function putIdempotencyKey(
  job: { readonly tenantId: string; readonly jobId: string; readonly createdAt: number },
  key: ExpiringKey,
): TableWrite {
  const keyIsFree = 'attribute_not_exists(PK) OR #ttl <= :now'
  return {
    Put: {
      Item: {
        ...tableKeys.idempotency(job.tenantId, key.digest),
        bodyHash: key.bodyHash,
        job: job.jobId,
        ttl: key.expiresAt,
      },
      ConditionExpression: keyIsFree,
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': job.createdAt },
    },
  }
}

/** The idempotency key already belongs to a job; nothing was written. */
export class IdempotencyKeyTakenError extends Error {
  override readonly name = 'IdempotencyKeyTakenError'
}
