import { once } from '#adapters/once.ts'
import { openBucket } from '#adapters/store/bucket/video-bucket.ts'
import type { ResolveContext } from '#lambdas/pipeline/resolve-video-job.ts'
import type { AdminContext } from '../command-line/command.ts'

/**
 * Opens what a change of a job needs. The adapters find state machine and bucket in the environment, as in a deployed function.
 * @throws DeploymentNotFoundError.
 */
export async function openJobAccess(context: Pick<AdminContext, 'table' | 'output'>): Promise<ResolveContext> {
  const table = await context.table()
  process.env.STATE_MACHINE_ARN = await context.output('StateMachineArn')
  process.env.BUCKET_NAME = await context.output('BucketName')
  // A job that was deleted while it ran never had a url, so the CDN has no copy.
  process.env.VIDEO_DELIVERY ??= 'bucket'
  return { table, openBucket: once(openBucket), nowMilliseconds: Date.now }
}
