import type { StepInput } from '#core/jobs/video-job.ts'
import { openVideoUrlSigner } from '#platform/cdn/video-urls.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { sendJobCallback } from './send-job-callback.ts'

const context = {
  table: openTable(),
  catalogue: openCatalogue(),
  nowMilliseconds: Date.now,
  openUrlSigner: openVideoUrlSigner,
}

/** State `Notify`. */
export async function handler({ tenantId, jobId }: StepInput): Promise<void> {
  await sendJobCallback({ tenantId, jobId }, context)
}
