import { emptyRequest, parseRequest } from '#core/admin/requests.ts'
import { redriveVideoJob } from '#lambdas/admin/jobs/redrive-job.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { readNamedJob } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../redrive`: starts an execution for an open job whose execution is missing or broken. */
export const redriveVideo: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest, event.json)
  const job = await readNamedJob(event, context)
  const { execution, replaced } = await redriveVideoJob(job, context, actorOf(event))
  return { body: { object: 'video.redrive', id: job.jobId, tenant: job.tenantId, execution, replaced } }
}
