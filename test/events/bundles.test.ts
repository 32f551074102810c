import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { v7 as uuidv7 } from 'uuid'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { parseFraming } from '../engines/framing-parser.ts'
import { type SampleService, startSampleService } from './sample-service.ts'

const EVENTS = join(REPOSITORY_ROOT, 'events')

/** The function that each sample event is for. */
const TARGETS: Readonly<Record<string, string>> = {
  'api-create-chat-completion': 'api/create-chat-completion',
  'api-create-completion': 'api/create-completion',
  'api-create-embedding': 'api/create-embedding',
  'api-create-image': 'api/create-image',
  'api-create-video-job': 'api/create-video-job',
  'api-create-video-quote': 'api/create-video-quote',
  'api-delete-video-job': 'api/delete-video-job',
  'api-fallback': 'api/fallback',
  'api-get-balance': 'api/get-balance',
  'api-get-health': 'api/get-health',
  'api-get-model': 'api/get-model',
  'api-get-openapi-document': 'api/get-openapi-document',
  'api-get-usage': 'api/get-usage',
  'api-get-video-job': 'api/get-video-job',
  'api-get-video-events': 'api/get-video-events',
  'api-get-video-receipt': 'api/get-video-receipt',
  'api-list-models': 'api/list-models',
  'api-list-video-jobs': 'api/list-video-jobs',
  'api-cancel-video-job': 'api/cancel-video-job',
  'api-resend-video-callback': 'api/resend-video-callback',
  'cdn-signing-key': 'cdn-signing-key',
  'cdn-signing-key-rotate': 'cdn-signing-key',
  'pipeline-reconcile-execution-status': 'pipeline/reconcile',
  'pipeline-reconcile-schedule': 'pipeline/reconcile',
  'pipeline-check-references': 'pipeline/check-references',
  'pipeline-fail-video-job': 'pipeline/fail-video-job',
  'pipeline-poll-video-job': 'pipeline/poll-video-job',
  'pipeline-settle-video-job': 'pipeline/settle-video-job',
  'pipeline-store-video': 'pipeline/store-video',
  'pipeline-submit-video-job': 'pipeline/submit-video-job',
  'pipeline-notify': 'pipeline/notify',
}

let service: SampleService

beforeAll(async () => {
  service = await startSampleService()
}, 180_000)

afterAll(async () => {
  await service?.close()
})

function readEvent(name: string) {
  return JSON.parse(readFileSync(join(EVENTS, `${name}.json`), 'utf8'))
}

async function invoke(name: string, changes: object = {}): Promise<unknown> {
  return await service.functions.invoke(TARGETS[name] ?? '', { ...readEvent(name), ...changes })
}

function isApiResult(result: unknown): result is APIGatewayProxyResult {
  return typeof result === 'object' && result !== null && 'statusCode' in result
}

async function request(name: string): Promise<{ statusCode: number; body: unknown }> {
  const result = await invoke(name)
  if (!isApiResult(result)) {
    throw new TypeError(`${name} answered ${JSON.stringify(result)}`)
  }
  return { statusCode: result.statusCode, body: JSON.parse(result.body) }
}

/** What a streaming function sends, whose framing is checked. */
async function stream(name: string, changes: object = {}) {
  const event = { ...readEvent(name), ...changes }
  const { statusCode, headers, body } = parseFraming(
    await service.functions.invokeStreaming(TARGETS[name] ?? '', event),
  )
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  return { statusCode, contentType: headers['content-type'], text: body.toString('utf8') }
}

describe('sample events', () => {
  it('exist for every deployed function, and each has a function', () => {
    expect([...new Set(Object.values(TARGETS))].sort()).toEqual(service.functions.folders)
    const files = readdirSync(EVENTS).filter((file) => file.endsWith('.json'))
    expect(files.map((file) => file.replace('.json', '')).sort()).toEqual(Object.keys(TARGETS).sort())
  })
})

describe('the deployed API', () => {
  it('creates a job through the deployed state machine and returns the upstream’s submit reply', async () => {
    const { statusCode, body } = await request('api-create-video-job')
    expect(statusCode).toBe(201)
    expect(body).toMatchObject({
      object: 'video.generation',
      status: 'queued',
      model: 'famB-1.1-t2v',
      output: { task_status: 'PENDING' },
    })
  })

  it('gets a job with a signed url', async () => {
    const { job_id } = readEvent('api-get-video-job').pathParameters
    await service.jobs.make({ jobId: job_id, stage: 'succeeded' })
    const { statusCode, body } = await request('api-get-video-job')
    expect(statusCode).toBe(200)
    expect(body).toMatchObject({
      status: 'succeeded',
      duration_secs: 5,
      url: expect.stringMatching(/^https:\/\/videos\.example\.com\/v\/.*&Key-Pair-Id=K1SAMPLE&Signature=/),
      output: { task_status: 'SUCCEEDED' },
    })
  })

  it('lists the newest jobs first', async () => {
    const { jobId } = await service.jobs.make({ jobId: uuidv7(), stage: 'queued' })
    const { statusCode, body } = await request('api-list-video-jobs')
    expect(statusCode).toBe(200)
    expect(body).toMatchObject({
      object: 'list',
      data: expect.arrayContaining([expect.objectContaining({ id: jobId })]),
    })
  })

  it('deletes a job with its video', async () => {
    const { job_id } = readEvent('api-delete-video-job').pathParameters
    const { videoKey } = await service.jobs.make({ jobId: job_id, stage: 'succeeded' })
    await service.putVideo(videoKey)
    await expect(request('api-delete-video-job')).resolves.toEqual({ statusCode: 200, body: { deleted: true } })
    await expect(service.headVideo(videoKey)).rejects.toMatchObject({ name: 'NotFound' })
  })

  it('returns the usage of the tenant', async () => {
    const { statusCode, body } = await request('api-get-usage')
    expect(statusCode).toBe(200)
    expect(body).toMatchObject({ object: 'list', group_by: ['day', 'model'], has_more: false, next: null })
  })

  it('returns the balance of the tenant', async () => {
    const { statusCode, body } = await request('api-get-balance')
    expect(statusCode).toBe(200)
    expect(body).toMatchObject({ object: 'balance', unit: 'credit', key: { name: null, models: null, budget: null } })
  })

  it('returns a quote, and the receipt of a job', async () => {
    const quote = await request('api-create-video-quote')
    expect(quote).toMatchObject({ statusCode: 200, body: { object: 'video.quote', affordable: true } })
    const { job_id } = readEvent('api-get-video-receipt').pathParameters
    await service.jobs.make({ jobId: job_id, stage: 'succeeded' })
    const receipt = await request('api-get-video-receipt')
    expect(receipt).toMatchObject({ statusCode: 200, body: { object: 'video.receipt', id: job_id } })
  })

  it('cancels a job', async () => {
    const { job_id } = readEvent('api-cancel-video-job').pathParameters
    await service.jobs.make({ jobId: job_id, stage: 'submitted' })
    const { statusCode, body } = await request('api-cancel-video-job')
    expect(statusCode).toBe(200)
    expect(body).toMatchObject({ id: job_id, status: 'failed', error: 'cancelled by the client' })
  })

  it('sends the callback of a job again', async () => {
    const { job_id } = readEvent('api-resend-video-callback').pathParameters
    await service.jobs.make({ jobId: job_id, stage: 'succeeded', callbackUrl: `${service.receiver.origin}/again` })
    const resend = await request('api-resend-video-callback')
    expect(resend).toMatchObject({ statusCode: 200, body: { object: 'video.callback', attempt: 2, status: 200 } })
    const [call] = service.receiver.received.filter(({ path }) => path === '/again')
    expect(call?.headers['webhook-id']).toBe(`msg_${job_id}`)
    expect(JSON.parse(call?.text ?? '')).toMatchObject({ id: job_id, status: 'succeeded' })
  })

  it('returns the events of a job', async () => {
    const { job_id } = readEvent('api-get-video-events').pathParameters
    await service.jobs.make({ jobId: job_id, stage: 'stored' })
    const { statusCode, text } = await stream('api-get-video-events')
    const stored = { id: 'stored', type: 'stored', at: expect.any(Number) }
    expect([statusCode, JSON.parse(text)]).toEqual([200, { object: 'list', data: expect.arrayContaining([stored]) }])
  })

  it('returns its health, and the OpenAPI document beside its code', async () => {
    await expect(request('api-get-health')).resolves.toMatchObject({ statusCode: 200, body: { status: 'ok' } })
    const { statusCode, body } = await request('api-get-openapi-document')
    expect(statusCode).toBe(200)
    const [server] = Object(body).servers
    expect(server.url).toBe('https://abc123defg.execute-api.eu-west-1.amazonaws.com/live')
    const { servers, ...document } = JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'openapi.json'), 'utf8'))
    expect(body).toEqual({ ...document, servers: [{ ...servers[0], url: server.url }] })
  })

  it('returns the video error shape for an unknown path below /v1/video', async () => {
    await expect(request('api-fallback')).resolves.toEqual({ statusCode: 404, body: { error: 'not found' } })
  })
})

describe('the deployed relay', () => {
  it('lists the models, and gets one', async () => {
    const { body } = await request('api-list-models')
    expect(body).toMatchObject({ object: 'list', data: expect.any(Array) })
    await expect(request('api-get-model')).resolves.toMatchObject({
      statusCode: 200,
      body: { id: 'chat-default', object: 'model' },
    })
  })

  it('streams a complete chat completion with the requested usage', async () => {
    const { statusCode, contentType, text } = await stream('api-create-chat-completion')
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
    ['api-create-completion', { object: 'text_completion', choices: [expect.objectContaining({ index: 0 })] }],
    ['api-create-embedding', { object: 'list', data: [{ index: 0 }, { index: 1 }] }],
    ['api-create-image', { data: [expect.objectContaining({ url: expect.any(String) })] }],
  ])('returns %s in one piece through its stream', async (name, expected) => {
    const { statusCode, contentType, text } = await stream(name)
    expect({ statusCode, contentType }).toEqual({ statusCode: 200, contentType: 'application/json' })
    expect(JSON.parse(text)).toMatchObject(expected)
  })

  it('responds without streaming, and without the global of Lambda’s runtime', async () => {
    const name = 'api-create-embedding'
    const result = await service.functions.invoke(TARGETS[name] ?? '', readEvent(name), 'handler')
    expect(result).toMatchObject({ statusCode: 200, body: expect.stringMatching(/^\{"object":\s*"list"/) })
  })

  it('uses the same framing for refusals', async () => {
    const { statusCode, text } = await stream('api-create-chat-completion', { headers: {}, multiValueHeaders: {} })
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
      expect((await stream('api-create-embedding', { body })).statusCode).toBe(status)
    },
  )
})

describe('the deployed state machine', () => {
  it('submits a job with the key from the channel secret', async () => {
    const { jobId } = readEvent('pipeline-submit-video-job')
    await service.jobs.make({ jobId, stage: 'queued' })
    await expect(invoke('pipeline-submit-video-job')).resolves.toEqual({
      step: 'poll',
      waitSeconds: expect.any(Number),
    })
    await expect(service.jobs.read(jobId)).resolves.toMatchObject({ status: 'processing', channelId: 'p1-main' })
  })

  it('checks the references of a job without any', async () => {
    const { jobId } = readEvent('pipeline-check-references')
    await service.jobs.make({ jobId, stage: 'queued' })
    await expect(invoke('pipeline-check-references')).resolves.toBeNull()
    await expect(service.jobs.read(jobId)).resolves.toMatchObject({ status: 'queued' })
  })

  it('polls a job and waits for the next poll while it runs', async () => {
    const { jobId } = readEvent('pipeline-poll-video-job')
    await service.jobs.make({ jobId, stage: 'submitted' })
    await expect(invoke('pipeline-poll-video-job')).resolves.toEqual({ step: 'poll', waitSeconds: expect.any(Number) })
  })

  it('stores a finished video', async () => {
    const { jobId } = readEvent('pipeline-store-video')
    const { videoKey } = await service.jobs.make({ jobId, stage: 'finished' })
    await expect(invoke('pipeline-store-video')).resolves.toEqual({ step: 'settle' })
    await expect(service.headVideo(videoKey)).resolves.toMatchObject({ ContentType: 'video/mp4' })
  })

  it('settles a stored job', async () => {
    const { jobId } = readEvent('pipeline-settle-video-job')
    await service.jobs.make({ jobId, stage: 'stored' })
    await expect(invoke('pipeline-settle-video-job')).resolves.toEqual({ step: 'done' })
    await expect(service.jobs.read(jobId)).resolves.toMatchObject({ status: 'succeeded' })
  })

  it('fails a job without a channel', async () => {
    const { jobId } = readEvent('pipeline-fail-video-job')
    await service.jobs.make({ jobId, stage: 'queued' })
    await expect(invoke('pipeline-fail-video-job')).resolves.toEqual({ step: 'done' })
    await expect(service.jobs.read(jobId)).resolves.toMatchObject({ status: 'failed', error: 'no upstream capacity' })
  })

  it('sends the callback of an ended job', async () => {
    const { jobId } = readEvent('pipeline-notify')
    await service.jobs.make({ jobId, stage: 'succeeded', callbackUrl: `${service.receiver.origin}/hook` })
    await expect(invoke('pipeline-notify')).resolves.toBeNull()
    const callback = service.receiver.received.find(({ path }) => path === '/hook')
    expect(callback?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(JSON.parse(callback?.text ?? '')).toMatchObject({ id: jobId, status: 'succeeded', duration_secs: 5 })
  })
})

describe('a deployed function that fails', () => {
  it('throws the error name that the state machine matches, despite minification', async () => {
    const unknown = { tenantId: 'demo', jobId: uuidv7() }
    const invocation = service.functions.invoke('pipeline/settle-video-job', unknown)
    await expect(invocation).rejects.toMatchObject({ name: 'JobRecordMissingError' })
  })
})

describe('the deployed Reconcile', () => {
  it('starts missing executions, every minute', async () => {
    const twoMinutesAgo = Math.trunc(Date.now() / 1000) - 120
    const { jobId } = await service.jobs.make({ jobId: uuidv7(), stage: 'queued', createdAt: twoMinutesAgo })
    await expect(invoke('pipeline-reconcile-schedule')).resolves.toBeNull()
    expect(service.machine.find(jobId)).toBeDefined()
  })

  it('handles a failed execution at once', async () => {
    const { name: jobId } = readEvent('pipeline-reconcile-execution-status').detail
    await service.jobs.make({ jobId, stage: 'queued' })
    await expect(invoke('pipeline-reconcile-execution-status')).resolves.toBeNull()
    expect(service.machine.find(jobId)).toBeDefined()
  })
})

describe('the deployed function of the signing keys', () => {
  const SECRET = 'signing-key-secret'

  it('creates the first key for CloudFormation, whose private key stays in the secret', async () => {
    const before = service.secrets.get(SECRET) ?? ''
    service.secrets.set(SECRET, '{}')
    const ResponseURL = `${service.receiver.origin}/answer`
    await expect(invoke('cdn-signing-key', { ResponseURL })).resolves.toBeNull()
    expect(service.secrets.get(SECRET)).toContain('PRIVATE KEY')
    const answer = service.receiver.received.find(({ path }) => path === '/answer')
    const [KeyGroupId] = service.cloudFrontKeys.keyGroups.keys()
    const [KeyPairId] = service.cloudFrontKeys.publicKeys.keys()
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({ Status: 'SUCCESS', Data: { KeyGroupId, KeyPairId } })
    expect(`${answer?.text}${[...service.cloudFrontKeys.publicKeys.values()]}`).not.toContain('PRIVATE KEY')
    service.secrets.set(SECRET, before)
  })

  it('rotates the keys for the operator', async () => {
    await expect(invoke('cdn-signing-key-rotate')).resolves.toMatchObject({
      keys: [
        { keyPairId: 'K1SAMPLE', state: 'signs' },
        { keyPairId: expect.stringMatching(/^KSTUB/), state: 'next' },
      ],
    })
    expect([...service.cloudFrontKeys.keyGroups.values()][0]).toContain('K1SAMPLE')
  })
})
