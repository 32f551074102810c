import * as z from 'zod/mini'
import { parseVideoJobRequest } from '#core/api/video-job-request.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { IdempotencyKeyReusedError, InvalidRequestError } from '#core/errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { sha256Hex } from '#platform/crypto.ts'
import type { Caller } from '#store/callers.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'

/** The digests of an idempotency key and of the request that came with it. */
export type IdempotentRequest = { readonly digest: string; readonly bodyHash: string }

/** @param requestText the validated request with its defaults, so that two spellings of one request are equal. */
export function idempotentRequest(idempotencyKey: string, requestText: string): IdempotentRequest {
  return { digest: sha256Hex(idempotencyKey), bodyHash: sha256Hex(requestText) }
}

const idempotencyItem = z.object({ bodyHash: z.string(), job: z.string() })

/**
 * The job that an idempotency key created; undefined if the key created none.
 * @throws IdempotencyKeyReusedError when the key came with another body, or its job has been deleted.
 */
export async function findIdempotentJob(
  table: Table,
  tenantId: string,
  { digest, bodyHash }: IdempotentRequest,
): Promise<VideoJob | undefined> {
  const item = await table.readItem(tableKeys.idempotency(tenantId, digest))
  if (item === undefined) {
    return undefined
  }
  const stored = idempotencyItem.safeParse(item)
  const job = stored.success ? await getVideoJob(table, tenantId, stored.data.job) : undefined
  if (job === undefined || job.isDeleted || stored.data?.bodyHash !== bodyHash) {
    throw new IdempotencyKeyReusedError()
  }
  return job
}

type Repeated = { readonly caller: Caller; readonly body: unknown; readonly idempotencyKey: string | undefined }

/**
 * The job of a refused request that would be valid if its model were enabled: a model can be disabled between a request and its
 * repetition. Undefined if the request has no idempotency key, is invalid for another reason, or created no job.
 * @throws IdempotencyKeyReusedError as {@link findIdempotentJob}.
 */
export async function findJobOfDisabledModel(
  { caller, body, idempotencyKey }: Repeated,
  { table, catalogue }: { readonly table: Table; readonly catalogue: Catalogue },
): Promise<VideoJob | undefined> {
  if (idempotencyKey === undefined) {
    return undefined
  }
  const enabling = { ...catalogue, findVideoModel: catalogue.findConfiguredVideoModel }
  const request = validRequest(body, { catalogue: enabling, allowedModels: caller.models })
  return request === undefined
    ? undefined
    : await findIdempotentJob(table, caller.tenantId, idempotentRequest(idempotencyKey, JSON.stringify(request)))
}

function validRequest(...parameters: Parameters<typeof parseVideoJobRequest>): VideoJobRequest | undefined {
  try {
    return parseVideoJobRequest(...parameters)
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      return undefined
    }
    throw error
  }
}
