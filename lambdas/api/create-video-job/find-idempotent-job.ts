import * as z from 'zod/mini'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { IdempotencyKeyReusedError } from '#core/errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'

const idempotencyItem = z.object({ bodyHash: z.string(), job: z.string() })

/**
 * The job that an idempotency key stands for.
 * @throws IdempotencyKeyReusedError when the key came with another body before, or its job was deleted since.
 */
export async function findIdempotentJob(
  table: Table,
  tenantId: string,
  { digest, bodyHash }: { digest: string; bodyHash: string },
): Promise<VideoJob> {
  const item = await table.readItem(tableKeys.idempotency(tenantId, digest))
  const stored = idempotencyItem.safeParse(item)
  const job = stored.success ? await getVideoJob(table, tenantId, stored.data.job) : undefined
  if (job === undefined || job.isDeleted || stored.data?.bodyHash !== bodyHash) {
    throw new IdempotencyKeyReusedError()
  }
  return job
}
