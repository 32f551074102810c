import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { isVisible, JOB_LIFETIME_SECONDS, JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { createCdnFront } from '#local/cdn-front.ts'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { openVideoUrlSigner } from '#platform/cdn/video-urls.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { inTurn, type Pipeline, running, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { CLIP, startCallbackReceiver } from '../engines/test-servers.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { createVideoMachine, type StateName } from '../engines/video-machine.ts'
import { apiEvent, context as lambdaContext } from '../middleware/api-exchange.ts'
import { holdRequest } from './faulty-table.ts'

describe('a deleted job', () => {
  let engines: Engines
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
  beforeAll(async () => {
    engines = await startEngines()
    receiver = await startCallbackReceiver()
  })
  afterAll(async () => {
    await Promise.all([engines.close(), receiver.stop()])
  })
  beforeEach(() => {
    receiver.received.length = 0
  })

  type Started = { readonly pipeline: Pipeline; readonly job: NewVideoJob }

  async function start(): Promise<Started> {
    const config = { callback_allowlist: [receiver.origin], trusted_origins: [engines.results.origin] }
    const pipeline = await engines.pipeline({ config })
    return { pipeline, job: await pipeline.create({ callbackUrl: receiver.url }) }
  }

  async function expectGone({ pipeline, job }: Started, cost: string): Promise<void> {
    expect(isVisible(await pipeline.read(job), pipeline.clock.seconds)).toBe(false)
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    expect(receiver.received).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    expect(formatCredits(balance.spent)).toBe(cost)
  }

  const SUCCESS = () => succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })
  const FAILURE = () => ({ kind: 'failed', text: '{}', message: 'no' }) as const

  it.each([
    ['between the read and the write of a settlement', 'Settle', SUCCESS, 'processing', '0.42'],
    ['between its settlement and the clean-up', 'Settle', SUCCESS, 'succeeded', '0.42'],
    ['between the read and the write of a release', 'Fail', FAILURE, 'processing', '0'],
    ['between its release and the clean-up', 'Fail', FAILURE, 'failed', '0'],
  ] as const)('is resolved once and leaves nothing if deleted %s', async (_, state, end, status, cost) => {
    const started = await start()
    const { pipeline, job } = started
    pipeline.upstream.script.poll = inTurn(running(), end())
    // The step reads the job, writes the resolution, reads the job again.
    const requestsBefore = status === 'processing' ? 1 : 2
    const deleteInBetween = async (step: () => Promise<unknown>) => {
      const held = holdRequest(pipeline.context.table, `JOB#${job.jobId}`, requestsBefore)
      const stepping = step()
      await held.arrived
      expect((await pipeline.read(job)).status).toBe(status)
      await pipeline.remove(job)
      held.release()
      return await stepping
    }
    const interpose: Partial<Record<StateName, typeof deleteInBetween>> = { [state]: deleteInBetween }
    const machine = createVideoMachine(pipeline, { interpose })
    expect((await machine.run(job)).status).toBe('SUCCEEDED')
    expect(machine.visited).toContain(state)
    await expectGone(started, cost)
  })

  it('is not submitted again and costs nothing if deleted while its submit hangs', async () => {
    const started = await start()
    const { pipeline, job } = started
    pipeline.upstream.script.submit = async () => {
      await pipeline.remove(job)
      return { kind: 'unknown', reason: 'no answer' }
    }
    await createVideoMachine(pipeline).run(job)
    expect(pipeline.upstream.submitted).toEqual(['main'])
    await expectGone(started, '0')
  })
})

describe('expiry', () => {
  const KEY = 'key-of-a-test'
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const cdnKey = {
    keyPairId: 'K1',
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }

  type Operation = 'get-video-job' | 'list-video-jobs' | 'delete-video-job'
  type Handler = (event: ApiEvent, context: typeof lambdaContext) => Promise<ApiResult>

  let engines: Engines
  let cdn: HttpServer
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
  let handlers: Record<Operation, Handler>
  /** Ended well a moment ago, and made so long ago that it expires now. */
  let job: NewVideoJob

  beforeAll(async () => {
    engines = await startEngines()
    receiver = await startCallbackReceiver()
    const pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
    const { table, openBucket } = pipeline.context
    const bucket = await openBucket()
    const baseUrl = () => `http://127.0.0.1:${cdn.port}`
    Object.assign(process.env, {
      ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
      ...{ AWS_ENDPOINT_URL_DYNAMODB: engines.tables.endpoint, TABLE_NAME: table.name },
      ...{ AWS_ENDPOINT_URL_S3: engines.bucket.endpoint, BUCKET_NAME: bucket.name },
      ...{ CDN_KEY_PAIR_ID: cdnKey.keyPairId, CDN_SIGNING_KEY: cdnKey.privateKeyPem },
    })
    const answer = createCdnFront({ bucketName: bucket.name, key: cdnKey, baseUrl })
    cdn = await listen((request, response) => {
      answer(request, response).catch(() => response.destroy())
    }, 0)
    process.env.CDN_BASE_URL = baseUrl()
    await storeApiKey(table, { key: KEY, tenantId: pipeline.tenant.tenantId, models: null }, TESTER)
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
    job = await pipeline.create({ createdAt: pipeline.clock.seconds - JOB_LIFETIME_SECONDS, callbackUrl: receiver.url })
    await createVideoMachine(pipeline, { interpose: { Notify: async () => ({}) } }).run(job)
    await sendJobCallback(job, { ...pipeline.context, openUrlSigner: openVideoUrlSigner })
    handlers = {
      'get-video-job': (await import('#lambdas/api/get-video-job/handler.ts')).handler,
      'list-video-jobs': (await import('#lambdas/api/list-video-jobs/handler.ts')).handler,
      'delete-video-job': (await import('#lambdas/api/delete-video-job/handler.ts')).handler,
    }
  })
  afterAll(async () => {
    await Promise.all([engines.close(), receiver.stop(), cdn.close()])
  })

  /** Runs while every clock of the gateway shows this second. */
  async function at<Result>(seconds: number, run: () => Promise<Result>): Promise<Result> {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000)
    try {
      return await run()
    } finally {
      clock.mockRestore()
    }
  }

  async function ask(operation: Operation, atSeconds: number) {
    const event = apiEvent({ headers: { authorization: `Bearer ${KEY}` }, pathParameters: { job_id: job.jobId } })
    const { statusCode, body } = await at(atSeconds, () => handlers[operation](event, lambdaContext))
    return { status: statusCode, json: JSON.parse(body) }
  }

  async function view(atSeconds: number) {
    const [one, list] = [await ask('get-video-job', atSeconds), await ask('list-video-jobs', atSeconds)]
    expect(one.status).toBe(200)
    expect(list.json.data).toEqual([one.json])
    return one.json
  }

  async function fetchVideo(url: string, atSeconds: number): Promise<{ status: number; bytes: Buffer }> {
    const answer = await at(atSeconds, () => fetch(url))
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
  }

  const callbackUrl = (): string => JSON.parse(receiver.received[0]?.body ?? '{}').url

  describe('a stored video', () => {
    it.each([1, 0.001])(
      'is available to every reader %d seconds before its job expires, under the same url',
      async (before) => {
        const now = job.expiresAt - before
        const json = await view(now)
        expect(json).toMatchObject({ status: 'succeeded', duration_secs: 3, expires_at: job.expiresAt })
        expect(json.url).toBe(callbackUrl())
        expect(new URL(json.url).searchParams.get('Expires')).toBe(String(job.expiresAt))
        const { status, bytes } = await fetchVideo(json.url, now)
        expect({ status, isWhole: bytes.equals(CLIP) }).toEqual({ status: 200, isWhole: true })
      },
    )

    it.each([0, 1, 3600])(
      'is unavailable to every reader %i seconds after the expiry, although the object still exists',
      async (after) => {
        const now = job.expiresAt + after
        const json = await view(now)
        expect(json).toMatchObject({ id: job.jobId, status: 'expired', expires_at: job.expiresAt })
        for (const member of ['url', 'duration_secs', 'error']) {
          expect(json).not.toHaveProperty(member)
        }
        expect((await fetchVideo(callbackUrl(), now)).status).toBe(403)
        expect(await engines.bucket.keys(job.videoKey)).toEqual([job.videoKey])
      },
    )

    it('is available again after a read with a fast clock, because reads of expired jobs write nothing', async () => {
      expect((await view(job.expiresAt)).status).toBe('expired')
      expect((await view(job.expiresAt - 1)).status).toBe('succeeded')
    })
  })

  describe('the record of a job', () => {
    it('exists until the second in which it is thirty days old', async () => {
      const end = job.createdAt + JOB_RECORD_SECONDS
      expect((await view(end - 1)).status).toBe('expired')
      expect(await ask('get-video-job', end)).toEqual({ status: 404, json: { error: 'video job not found' } })
      expect((await ask('list-video-jobs', end)).json.data).toEqual([])
    })

    it('can be deleted after the expiry of its job', async () => {
      expect(await ask('delete-video-job', job.expiresAt)).toEqual({ status: 200, json: { deleted: true } })
      expect((await ask('get-video-job', job.expiresAt)).status).toBe(404)
      expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    })
  })
})
