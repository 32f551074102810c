import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { SampleEvents } from './sample-events.ts'

/** Tests of the functions that run without a request: the steps of a job, and Reconcile. */
export function describePipelineBundles(sample: () => SampleEvents): void {
  describe('the deployed state machine', () => {
    it('submits a job with the key from the channel secret', async () => {
      const { jobId } = sample().read('pipeline-submit-video-job')
      await sample().service.jobs.make({ jobId, stage: 'queued' })
      await expect(sample().invoke('pipeline-submit-video-job')).resolves.toEqual({
        step: 'poll',
        waitSeconds: expect.any(Number),
      })
      await expect(sample().service.jobs.read(jobId)).resolves.toMatchObject({
        status: 'processing',
        channelId: 'p1-main',
      })
    })

    it('checks the references of a job without any', async () => {
      const { jobId } = sample().read('pipeline-check-references')
      await sample().service.jobs.make({ jobId, stage: 'queued' })
      await expect(sample().invoke('pipeline-check-references')).resolves.toBeNull()
      await expect(sample().service.jobs.read(jobId)).resolves.toMatchObject({ status: 'queued' })
    })

    it('polls a job and waits for the next poll while it runs', async () => {
      const { jobId } = sample().read('pipeline-poll-video-job')
      await sample().service.jobs.make({ jobId, stage: 'submitted' })
      await expect(sample().invoke('pipeline-poll-video-job')).resolves.toEqual({
        step: 'poll',
        waitSeconds: expect.any(Number),
      })
    })

    it('stores a finished video', async () => {
      const { jobId } = sample().read('pipeline-store-video')
      const { videoKey } = await sample().service.jobs.make({ jobId, stage: 'finished' })
      await expect(sample().invoke('pipeline-store-video')).resolves.toEqual({ step: 'settle' })
      await expect(sample().service.headObject(videoKey)).resolves.toMatchObject({ ContentType: 'video/mp4' })
    })

    it('settles a stored job', async () => {
      const { jobId } = sample().read('pipeline-settle-video-job')
      await sample().service.jobs.make({ jobId, stage: 'stored' })
      await expect(sample().invoke('pipeline-settle-video-job')).resolves.toEqual({ step: 'done' })
      await expect(sample().service.jobs.read(jobId)).resolves.toMatchObject({ status: 'succeeded' })
    })

    it('fails a job without a channel', async () => {
      const { jobId } = sample().read('pipeline-fail-video-job')
      await sample().service.jobs.make({ jobId, stage: 'queued' })
      await expect(sample().invoke('pipeline-fail-video-job')).resolves.toEqual({ step: 'done' })
      await expect(sample().service.jobs.read(jobId)).resolves.toMatchObject({
        status: 'failed',
        error: 'no upstream capacity',
      })
    })

    it('sends the callback of an ended job', async () => {
      const { jobId } = sample().read('pipeline-notify')
      await sample().service.jobs.make({
        jobId,
        stage: 'succeeded',
        callbackUrl: `${sample().service.receiver.origin}/hook`,
      })
      await expect(sample().invoke('pipeline-notify')).resolves.toBeNull()
      const callback = sample().service.receiver.received.find(({ path }) => path === '/hook')
      expect(callback?.headers['webhook-signature']).toMatch(/^v1,/)
      expect(JSON.parse(callback?.text ?? '')).toMatchObject({ id: jobId, status: 'succeeded', duration_secs: 5 })
    })
  })

  describe('a deployed function that fails', () => {
    it('throws the error name that the state machine matches, despite minification', async () => {
      const unknown = { tenantId: 'demo', jobId: uuidv7() }
      const invocation = sample().service.functions.invoke('pipeline/settle-video-job', unknown)
      await expect(invocation).rejects.toMatchObject({ name: 'JobRecordMissingError' })
    })
  })

  describe('the deployed Reconcile', () => {
    it('starts missing executions, every minute', async () => {
      const twoMinutesAgo = Math.trunc(Date.now() / 1000) - 120
      const { jobId } = await sample().service.jobs.make({ jobId: uuidv7(), stage: 'queued', createdAt: twoMinutesAgo })
      await expect(sample().invoke('pipeline-reconcile-schedule')).resolves.toBeNull()
      expect(sample().service.machine.find(jobId)).toBeDefined()
    })

    it('handles a failed execution at once', async () => {
      const { name: jobId } = sample().read('pipeline-reconcile-execution-status').detail
      await sample().service.jobs.make({ jobId, stage: 'queued' })
      await expect(sample().invoke('pipeline-reconcile-execution-status')).resolves.toBeNull()
      expect(sample().service.machine.find(jobId)).toBeDefined()
    })
  })
}
