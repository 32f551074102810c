import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { createEmbedding } from '#routes/relayed.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { sampleEvent } from '../../lib/openapi/sample-event.ts'
import type { SampleEvents } from './sample-events.ts'

/** Tests of the functions of the API that do not relay. */
export function describeApiBundles(sample: () => SampleEvents): void {
  describe('the deployed API', () => {
    it('creates a job through the deployed state machine and returns the upstream’s submit reply', async () => {
      const { statusCode, body } = await sample().call('create-video-job')
      expect(statusCode).toBe(201)
      expect(body).toMatchObject({
        object: 'video.generation',
        status: 'queued',
        model: 'famB-1.1-t2v',
        output: { task_status: 'PENDING' },
      })
    })

    it('gets a job with a signed url', async () => {
      const jobId = uuidv7()
      await sample().service.jobs.make({ jobId, stage: 'succeeded' })
      const { statusCode, body } = await sample().call('get-video-job', jobId)
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
      const { statusCode, body } = await sample().call('list-video-jobs')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({
        object: 'list',
        data: expect.arrayContaining([expect.objectContaining({ id: jobId })]),
      })
    })

    it('deletes a job with its video', async () => {
      const jobId = uuidv7()
      const { videoKey } = await sample().service.jobs.make({ jobId, stage: 'succeeded' })
      await sample().service.putVideo(videoKey)
      await expect(sample().call('delete-video-job', jobId)).resolves.toEqual({
        statusCode: 200,
        body: { deleted: true },
      })
      await expect(sample().service.headObject(videoKey)).rejects.toMatchObject({ name: 'NotFound' })
    })

    it('returns the usage of the tenant', async () => {
      const { statusCode, body } = await sample().call('get-usage')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({ object: 'list', group_by: ['day', 'model'], has_more: false, next: null })
    })

    it('returns the balance of the tenant', async () => {
      const { statusCode, body } = await sample().call('get-balance')
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({ object: 'balance', unit: 'credit', key: { name: null, models: null, budget: null } })
    })

    it('returns a quote, and the receipt of a job', async () => {
      const quote = await sample().call('create-video-quote')
      expect(quote).toMatchObject({ statusCode: 200, body: { object: 'video.quote', affordable: true } })
      const jobId = uuidv7()
      await sample().service.jobs.make({ jobId, stage: 'succeeded' })
      const receipt = await sample().call('get-video-receipt', jobId)
      expect(receipt).toMatchObject({ statusCode: 200, body: { object: 'video.receipt', id: jobId } })
    })

    it('cancels a job', async () => {
      const jobId = uuidv7()
      await sample().service.jobs.make({ jobId, stage: 'submitted' })
      const { statusCode, body } = await sample().call('cancel-video-job', jobId)
      expect(statusCode).toBe(200)
      expect(body).toMatchObject({ id: jobId, status: 'failed', error: 'cancelled by the client' })
    })

    it('sends the callback of a job again', async () => {
      const jobId = uuidv7()
      await sample().service.jobs.make({
        jobId,
        stage: 'succeeded',
        callbackUrl: `${sample().service.receiver.origin}/again`,
      })
      const resend = await sample().call('resend-video-callback', jobId)
      expect(resend).toMatchObject({ statusCode: 200, body: { object: 'video.callback', attempt: 2, status: 200 } })
      const [call] = sample().service.receiver.received.filter(({ path }) => path === '/again')
      expect(call?.headers['webhook-id']).toBe(`msg_${jobId}`)
      expect(JSON.parse(call?.text ?? '')).toMatchObject({ id: jobId, status: 'succeeded' })
    })

    it('returns the events of a job', async () => {
      const jobId = uuidv7()
      await sample().service.jobs.make({ jobId, stage: 'stored' })
      const { statusCode, text } = await sample().stream('get-video-events', { jobId })
      const stored = { id: 'stored', type: 'stored', at: expect.any(Number) }
      expect([statusCode, JSON.parse(text)]).toEqual([200, { object: 'list', data: expect.arrayContaining([stored]) }])
    })

    it('returns its health, and the OpenAPI document beside its code', async () => {
      await expect(sample().call('get-health')).resolves.toMatchObject({
        statusCode: 200,
        body: { status: 'ok' },
      })
      const { statusCode, body } = await sample().call('get-openapi-document')
      expect(statusCode).toBe(200)
      const [server] = Object(body).servers
      expect(server.url).toBe('https://abc123defg.execute-api.eu-west-1.amazonaws.com/live')
      const { servers, ...document } = JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'openapi.json'), 'utf8'))
      expect(body).toEqual({ ...document, servers: [{ ...servers[0], url: server.url }] })
    })
  })
}

const STREAMED_CHAT = JSON.stringify({
  model: 'chat-default',
  messages: [{ role: 'user', content: 'Name three paper cities' }],
  stream: true,
  stream_options: { include_usage: true },
})

const WITHOUT_KEY = { headers: {}, multiValueHeaders: {} }

/** Tests of the relaying functions. */
export function describeRelayBundles(sample: () => SampleEvents): void {
  describe('the deployed relay', () => {
    it('lists the models, and gets one', async () => {
      const { body } = await sample().call('list-models')
      expect(body).toMatchObject({ object: 'list', data: expect.any(Array) })
      await expect(sample().call('get-model')).resolves.toMatchObject({
        statusCode: 200,
        body: { id: 'chat-default', object: 'model' },
      })
    })

    it('streams a complete chat completion with the requested usage', async () => {
      const { statusCode, contentType, text } = await sample().stream('create-chat-completion', { body: STREAMED_CHAT })
      expect({ statusCode, contentType }).toEqual({
        statusCode: 200,
        contentType: expect.stringContaining('text/event-stream'),
      })
      const events = text.split('\n\n').filter((event) => event.startsWith('data: '))
      expect(events.at(-1)).toBe('data: [DONE]')
      expect(JSON.parse(events.at(-2)?.slice(6) ?? '')).toMatchObject({
        model: 'chat-default',
        usage: { total_tokens: expect.any(Number) },
      })
    })

    it.each([
      [
        'create-completion',
        { object: 'text_completion', choices: expect.arrayContaining([expect.objectContaining({ index: 0 })]) },
      ],
      ['create-embedding', { object: 'list', data: [{ index: 0 }, { index: 1 }] }],
      ['create-image', { data: [expect.objectContaining({ url: expect.any(String) })] }],
    ])('returns %s in one piece through its stream', async (name, expected) => {
      const { statusCode, contentType, text } = await sample().stream(name)
      expect({ statusCode, contentType }).toEqual({ statusCode: 200, contentType: 'application/json' })
      expect(JSON.parse(text)).toMatchObject(expected)
    })

    it('responds without streaming, and without the global of Lambda’s runtime', async () => {
      const event = sampleEvent(createEmbedding)
      const result = await sample().service.functions.invoke('api/create-embedding', event, 'handler')
      expect(result).toMatchObject({ statusCode: 200, body: expect.stringMatching(/^\{"object":\s*"list"/) })
    })

    it('uses the same framing for refusals', async () => {
      const { statusCode, text } = await sample().stream('create-chat-completion', WITHOUT_KEY)
      expect(statusCode).toBe(401)
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'invalid_api_key' } })
    })

    it.each([
      [8_000, 200],
      [8_200, 400],
    ])(
      'counts %i tokens of a long string with the vocabulary beside its code, and returns %i',
      async (tokens, status) => {
        const body = JSON.stringify({ model: 'text-embedding-3-small', input: ' paper'.repeat(tokens) })
        expect((await sample().stream('create-embedding', { body })).statusCode).toBe(status)
      },
    )
  })
}

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

/** Tests of the functions of the console. */
export function describeConsoleBundles(sample: () => SampleEvents): void {
  /** The token of a session, which the cookie of a sign-in brings. */
  async function signIn(key?: string): Promise<string> {
    const { statusCode, multiValueHeaders, body } = await sample().result(
      'admin-api-sign-in',
      key === undefined ? {} : { body: JSON.stringify({ key }) },
    )
    expect({ statusCode, body }).toMatchObject({ statusCode: 200 })
    const [cookie = ''] = multiValueHeaders?.['set-cookie'] ?? []
    return String(cookie).split(';')[0] ?? ''
  }

  /** Headers of a sample event, some of them replaced. */
  function headersOf(name: string, changes: Readonly<Record<string, string>>) {
    const headers: Record<string, string> = { ...sample().read(name).headers, ...changes }
    const lines = Object.entries(headers).map(([header, value]) => [header, [value]])
    return { headers, multiValueHeaders: Object.fromEntries(lines) }
  }

  describe('the deployed console', () => {
    it('signs in with an API key, which sees the jobs of its tenant and may grant nothing', async () => {
      const cookie = await signIn()
      const { jobId } = await sample().service.jobs.make({ jobId: uuidv7(), stage: 'queued' })
      const list = await sample().request('admin-api-read', headersOf('admin-api-read', { cookie }))
      expect(list).toMatchObject({ statusCode: 200, body: { object: 'list' } })
      expect(JSON.stringify(list.body)).toContain(jobId)
      const grant = await sample().request('admin-api-write', headersOf('admin-api-write', { cookie }))
      expect(grant).toMatchObject({ statusCode: 403 })
    })

    it('signs in with the key of an owner, who grants credits once for an id', async () => {
      const cookie = await signIn(await sample().service.makeAdminKey())
      const send = () => sample().request('admin-api-write', headersOf('admin-api-write', { cookie }))
      expect(await send()).toMatchObject({ statusCode: 200, body: { id: 'demo', repeated: false } })
      expect(await send()).toMatchObject({ statusCode: 200, body: { id: 'demo', repeated: true } })
    })

    it.each(['admin-api-sign-in', 'admin-api-read', 'admin-api-write'])(
      'does not exist for %s without the secret of the front door',
      async (name) => {
        const sent = await sample().request(name, headersOf(name, { 'x-reelgate-front-door': 'guessed' }))
        expect(sent).toMatchObject({ statusCode: 404 })
      },
    )

    it('writes its files into its bucket, and tells CloudFormation', async () => {
      const { receiver, headObject } = sample().service
      await expect(sample().invoke('console-files', { ResponseURL: `${receiver.origin}/files` })).resolves.toBeNull()
      const response = receiver.received.find(({ path }) => path === '/files')
      expect(JSON.parse(response?.text ?? '')).toMatchObject({ Status: 'SUCCESS' })
      expect(await headObject('console/index.html')).toMatchObject({ ContentType: 'text/html; charset=utf-8' })
    })
  })
}
