import { openUrlSigner } from '#adapters/cdn/signed-url.ts'
import { openCatalogue } from '#adapters/config/gateway-catalogue.ts'
import { openTable } from '#adapters/stores/table.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import { sendJobCallback } from './send-job-callback.ts'

const context = { table: openTable(), catalogue: openCatalogue(), nowMilliseconds: Date.now, openUrlSigner }

/** State `Notify`. */
export async function handler({ tenantId, jobId }: StepInput): Promise<void> {
  await sendJobCallback({ tenantId, jobId }, context)
}
