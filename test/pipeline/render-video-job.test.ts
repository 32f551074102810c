import { describe, expect, it } from '@jest/globals'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { ZERO } from '#core/money.ts'
import { createJobRenderer } from '#lambdas/pipeline/render-video-job.ts'
import { type Bucket, storeUpstreamText } from '#store/bucket/bucket.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { useOpened } from '../engines/use-opened.ts'

const engine = useOpened(startTestBucket)

const JOB: VideoJob = {
  tenantId: 'tenant',
  jobId: 'job',
  status: 'processing',
  model: 'famA-2',
  createdAt: 1_000,
  expiresAt: 2_000,
  isDeleted: false,
  videoKey: 'v/00/job.mp4',
  estimate: ZERO,
  callbackUrl: undefined,
  isWaitingForChannel: false,
  submitState: 'accepted',
  channelId: 'main',
  provider: undefined,
  submittedAt: 1_000,
  taskId: 'task',
  submitText: { inline: '{"from":"submit"}' },
  pollText: undefined,
  goneCount: 0,
  isCancelRefused: false,
  finishedAt: undefined,
  storedDurationSeconds: undefined,
  failure: undefined,
  error: undefined,
  durationSeconds: undefined,
  callbackState: undefined,
}

const never = (): never => {
  throw new Error('not needed')
}
const signer = async () => () => 'https://cdn.example/signed'

describe('createJobRenderer', () => {
  it('shows the latest upstream reply, and opens neither bucket nor signer without need', async () => {
    const render = createJobRenderer(never, never)
    expect(await render(JOB, 1_500)).toContain('"from":"submit"')
    expect(await render({ ...JOB, pollText: { inline: '{"from":"poll"}' } }, 1_500)).toContain('"from":"poll"')
    expect(await render({ ...JOB, status: 'failed', error: 'no' }, 1_500)).toContain('"error":"no"')
  })

  it('keeps the bytes of a reply that lies in the bucket', async () => {
    const open = (): Bucket => engine.bucket
    const text = `{"n":9007199254740993,"f":5.0,"pad":"${'x'.repeat(300_000)}"}`
    const pollText = await storeUpstreamText(open, { job: JOB, kind: 'poll', text })
    const body = await createJobRenderer(open, signer)(
      { ...JOB, pollText, status: 'succeeded', durationSeconds: '5.0' },
      1_500,
    )
    expect(body).toContain('"n":9007199254740993,"f":5.0,')
    expect(body).toContain('"url":"https://cdn.example/signed"')
    expect(body).toContain('"duration_secs":5.0')
  })

  it('shows no url from the second on in which the job expires', async () => {
    const render = createJobRenderer(never, signer)
    const job: VideoJob = { ...JOB, status: 'succeeded', durationSeconds: '5' }
    expect(await render(job, 1_999)).toContain('"url"')
    expect(JSON.parse(await render(job, 2_000))).toMatchObject({ status: 'expired' })
    expect(await render(job, 2_000)).not.toContain('"url"')
  })
})
