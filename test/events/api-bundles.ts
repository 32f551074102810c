import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import type { SampleEvents } from './sample-events.ts'

/** Tests of the functions of the API that do not relay. */
export function describeApiBundles(sample: () => SampleEvents): void {
  describe('the deployed API', () => {
    it('creates a job through the deployed state machine and returns the upstream’s submit reply', async () => {
      const { statusCode, body } = await sample().request('api-create-video-job')
      expect(statusCode).toBe(201)
      expect(body).toMatchObject({
        object: 'video.generation',
        status: 'queued',
        model: 'famB-1.1-t2v',
        output: { task_status: 'PENDING' },
      })
    })

    it('gets a job with a signed url', async () => {
      const { job_id } = sample().read('api-get-video-job').pathParameters
      await sample().service.jobs.make({ jobId: job_id, stage: 'succeeded' })
      const { statusCode, body } = await sample().request('api-get-video-job')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({
        status: 'succeeded',
        duration_secs: 5,
        url: expect.stringMatching(/^https:\/\/videos\.example\.com\/v\/.*&Key-Pair-Id=K1SAMPLE&Signature=/),
        output: { task_status: 'SUCCEEDED' },
      })
    })

    it('lists the newest jobs first', async () => {
      const { jobId } = await sample().service.jobs.make({ jobId: uuidv7(), stage: 'queued' })
      const { statusCode, body } = await sample().request('api-list-video-jobs')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({
        object: 'list',
        data: expect.arrayContaining([expect.objectContaining({ id: jobId })]),
      })
    })

    it('deletes a job with its video', async () => {
      const { job_id } = sample().read('api-delete-video-job').pathParameters
      const { videoKey } = await sample().service.jobs.make({ jobId: job_id, stage: 'succeeded' })
      await sample().service.putVideo(videoKey)
      await expect(sample().request('api-delete-video-job')).resolves.toEqual({
        statusCode: 200,
        body: { deleted: true },
      })
      await expect(sample().service.headObject(videoKey)).rejects.toMatchObject({ name: 'NotFound' })
    })

    it('returns the usage of the tenant', async () => {
      const { statusCode, body } = await sample().request('api-get-usage')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({ object: 'list', group_by: ['day', 'model'], has_more: false, next: null })
    })

    it('returns the balance of the tenant', async () => {
      const { statusCode, body } = await sample().request('api-get-balance')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({ object: 'balance', unit: 'credit', key: { name: null, models: null, budget: null } })
    })

    it('returns a quote, and the receipt of a job', async () => {
      const quote = await sample().request('api-create-video-quote')
      expect(quote).toMatchObject({ statusCode: 200, body: { object: 'video.quote', affordable: true } })
      const { job_id } = sample().read('api-get-video-receipt').pathParameters
      await sample().service.jobs.make({ jobId: job_id, stage: 'succeeded' })
      const receipt = await sample().request('api-get-video-receipt')
      expect(receipt).toMatchObject({ statusCode: 200, body: { object: 'video.receipt', id: job_id } })
    })

    it('cancels a job', async () => {
      const { job_id } = sample().read('api-cancel-video-job').pathParameters
      await sample().service.jobs.make({ jobId: job_id, stage: 'submitted' })
      const { statusCode, body } = await sample().request('api-cancel-video-job')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({ id: job_id, status: 'failed', error: 'cancelled by the client' })
    })

    it('sends the callback of a job again', async () => {
      const { job_id } = sample().read('api-resend-video-callback').pathParameters
      await sample().service.jobs.make({
        jobId: job_id,
        stage: 'succeeded',
        callbackUrl: `${sample().service.receiver.origin}/again`,
      })
      const resend = await sample().request('api-resend-video-callback')
      expect(resend).toMatchObject({ statusCode: 200, body: { object: 'video.callback', attempt: 2, status: 200 } })
      const [call] = sample().service.receiver.received.filter(({ path }) => path === '/again')
      expect(call?.headers['webhook-id']).toBe(`msg_${job_id}`)
      expect(JSON.parse(call?.text ?? '')).toMatchObject({ id: job_id, status: 'succeeded' })
    })

    it('returns the events of a job', async () => {
      const { job_id } = sample().read('api-get-video-events').pathParameters
      await sample().service.jobs.make({ jobId: job_id, stage: 'stored' })
      const { statusCode, text } = await sample().stream('api-get-video-events')
      const stored = { id: 'stored', type: 'stored', at: expect.any(Number) }
      expect([statusCode, JSON.parse(text)]).toEqual([200, { object: 'list', data: expect.arrayContaining([stored]) }])
    })

    it('returns its health, and the OpenAPI document beside its code', async () => {
      await expect(sample().request('api-get-health')).resolves.toMatchObject({
        statusCode: 200,
        body: { status: 'ok' },
      })
      const { statusCode, body } = await sample().request('api-get-openapi-document')
      expect(statusCode).toBe(200)
      const [server] = Object(body).servers
      expect(server.url).toBe('https://abc123defg.execute-api.eu-west-1.amazonaws.com/live')
      const { servers, ...document } = JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'openapi.json'), 'utf8'))
      expect(body).toEqual({ ...document, servers: [{ ...servers[0], url: server.url }] })
    })
  })
}
