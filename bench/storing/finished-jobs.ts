import type { StepInput, VideoJob } from '#core/jobs/video-job.ts'
import { claimSubmit, recordAccepted, recordPoll } from '#store/jobs/job-progress.ts'
import type { Table } from '#store/table/table.ts'
import { openTenant, reserveJob } from '../../test/engines/video-jobs.ts'

/** A channel of the shipped configuration; only its way of reading answers counts here. */
const CHANNEL = { id: 'p2-direct', max_open_jobs: 1000, provider: 'p2' } as const

/** A job whose upstream has finished, with its video at a url, ready to be stored. */
export async function makeFinishedJob(table: Table, videoUrl: string): Promise<StepInput & Pick<VideoJob, 'videoKey'>> {
  const { tenantId, jobId, videoKey, createdAt } = await reserveJob(table, await openTenant(table))
  const job = { tenantId, jobId }
  await claimSubmit(table, { job, channel: CHANNEL, nowSeconds: createdAt })
  await recordAccepted(table, job, { taskId: 'task', submitText: { inline: '{"id":"task"}' }, acceptedAt: createdAt })
  const answer = JSON.stringify({ id: 'task', status: 'succeeded', content: { video_url: videoUrl } })
  await recordPoll(table, job, { pollText: { inline: answer }, finishedAt: createdAt })
  return { ...job, videoKey }
}
