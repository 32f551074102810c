import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { endFailedJob, resolveVideoJob, settlementOf } from '#lambdas/pipeline/resolve-video-job.ts'
import { createWebhookSecret } from '#platform/callback-signature.ts'
import { createUrlSigner } from '#platform/cdn/video-urls.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { claimCallback } from '#store/jobs/callback-claims.ts'
import { recordFailure, recordPoll } from '#store/jobs/job-progress.ts'
import { rotateWebhookSecret } from '#store/tenants/webhook-secrets.ts'
import { inTurn, type Pipeline, succeeded } from '../../engines/pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'
import { startCallbackReceiver } from '../../engines/test-servers.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signUrl = createUrlSigner({
  baseUrl: 'https://cdn.example',
  keyPairId: 'K1',
  privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
})

let engines: Engines
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
/** What the receiver does when it is called. */
let onCall: () => number | Promise<number>
let pipeline: Pipeline
beforeAll(async () => {
  engines = await startEngines()
  receiver = await startCallbackReceiver(() => onCall())
})
beforeEach(async () => {
  engines.reset()
  receiver.received.length = 0
  onCall = () => 200
  pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
})
afterAll(async () => {
  await Promise.all([engines.close(), receiver.stop()])
})

const processingJob = (changes: Partial<NewVideoJob> = {}) =>
  pipeline.createAccepted({ callbackUrl: receiver.url, ...changes })

async function succeededJob(changes: Partial<NewVideoJob> = {}): Promise<NewVideoJob> {
  const job = await processingJob(changes)
  await recordPoll(pipeline.context.table, job, {
    pollText: { inline: '{"seconds":3,"length":"3.04"}' },
    finishedAt: 1,
  })
  await resolveVideoJob(job, pipeline.context, (record, reservation) =>
    settlementOf(record, reservation, pipeline.context),
  )
  return job
}

const send = (job: NewVideoJob, context = pipeline.context) =>
  sendJobCallback({ tenantId: job.tenantId, jobId: job.jobId }, { ...context, openUrlSigner: async () => signUrl })

describe('the callback of a succeeded job', () => {
  it('is one POST with exactly id, status, url and duration_secs', async () => {
    const job = await succeededJob()
    await send(job)
    const [call] = receiver.received
    expect(call).toMatchObject({ method: 'POST', path: '/hook', headers: { 'content-type': 'application/json' } })
    expect(call?.body).toBe(
      `{"id":"${job.jobId}","status":"succeeded","url":${JSON.stringify(signUrl(job))},"duration_secs":3.04}`,
    )
    expect(engines.counted()).toContain('callback_delivered')
  })

  it('is verified unchanged by the webhooks of the OpenAI SDK, with the secret of the tenant', async () => {
    const job = await succeededJob()
    await send(job)
    const [call] = receiver.received
    const headers = Object.fromEntries(
      Object.entries(call?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    )
    const client = new OpenAI({ apiKey: 'none', webhookSecret: pipeline.tenant.webhookSecret })
    expect(await client.webhooks.unwrap(call?.body ?? '', headers)).toMatchObject({
      id: job.jobId,
      status: 'succeeded',
    })
    const tampered = call?.body.replace('succeeded', 'failed') ?? ''
    await expect(client.webhooks.unwrap(tampered, headers)).rejects.toThrow()
    expect(call?.headers['webhook-id']).toBe(`msg_${job.jobId}`)
  })
})

describe('a callback while the secret of its tenant rotates', () => {
  async function verifiedBy(secret: string): Promise<boolean> {
    const [call] = receiver.received
    const headers = Object.entries(call?.headers ?? {}).map(([name, value]) => [name, String(value)])
    const { webhooks } = new OpenAI({ apiKey: 'none', webhookSecret: secret })
    const unwrapped = webhooks.unwrap(call?.body ?? '', Object.fromEntries(headers))
    return await unwrapped.then(() => true).catch(() => false)
  }
  const rotate = (secret: string, previousUntil: number) =>
    rotateWebhookSecret(pipeline.context.table, pipeline.tenant.tenantId, {
      replaces: pipeline.tenant.webhookSecret,
      secret,
      previousUntil,
      actor: TESTER,
    })

  it('is verified by the old and by the new secret', async () => {
    const job = await succeededJob()
    const secret = createWebhookSecret()
    await rotate(secret, pipeline.context.nowMilliseconds() + 1)
    await send(job)
    expect(await Promise.all([secret, pipeline.tenant.webhookSecret].map(verifiedBy))).toEqual([true, true])
  })

  it('is verified by the new one alone once the overlap is over', async () => {
    const job = await succeededJob()
    const secret = createWebhookSecret()
    await rotate(secret, pipeline.context.nowMilliseconds())
    await send(job)
    expect(await Promise.all([secret, pipeline.tenant.webhookSecret].map(verifiedBy))).toEqual([true, false])
  })
})

describe('the callback of a failed job', () => {
  it('is exactly id, status and error', async () => {
    const job = await processingJob()
    await recordFailure(pipeline.context.table, job, { failure: 'no "kittens"' })
    await endFailedJob(job, pipeline.context, 'UpstreamFailedError')
    await send(job)
    expect(receiver.received.map(({ body }) => body)).toEqual([
      `{"id":"${job.jobId}","status":"failed","error":"no \\"kittens\\""}`,
    ])
  })
})

describe('the callback of any job', () => {
  it('is sent once, however often its function runs', async () => {
    const job = await succeededJob()
    await Promise.all([send(job), send(job), send(job)])
    await send(job)
    expect(receiver.received).toHaveLength(1)
  })

  it('is claimed before the connection is made', async () => {
    const job = await succeededJob()
    const seen: unknown[] = []
    onCall = async () => {
      seen.push((await pipeline.read(job)).callbackState)
      return 200
    }
    await send(job)
    expect(seen).toEqual(['sent'])
  })

  it('claimed by a function that died is never sent', async () => {
    const job = await succeededJob()
    expect(await claimCallback(pipeline.context.table, job)).toBe(true)
    await send(job)
    expect(receiver.received).toEqual([])
  })

  it.each([500, 404, 301, 204])('is not sent again after status %s', async (status) => {
    onCall = () => status
    const job = await succeededJob()
    await send(job)
    await send(job)
    expect(receiver.received).toHaveLength(1)
    expect(engines.counted()).toContain(status === 204 ? 'callback_delivered' : 'callback_failed')
  })

  it('to a receiver that is not there is one failed attempt, and no error of the function', async () => {
    const gone = await startCallbackReceiver()
    await gone.stop()
    const job = await succeededJob({ callbackUrl: gone.url })
    const { catalogue } = pipeline.context
    const config = { ...catalogue.config, callback_allowlist: [gone.origin] }
    await send(job, { ...pipeline.context, catalogue: { ...catalogue, config } })
    expect(engines.counted()).toEqual(expect.arrayContaining(['callback_failed']))
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', callbackState: 'sent' })
  })

  it('is not sent to a host that has left the allowlist since', async () => {
    const job = await succeededJob()
    const { catalogue } = pipeline.context
    const config = { ...catalogue.config, callback_allowlist: [] }
    await send(job, { ...pipeline.context, catalogue: { ...catalogue, config } })
    expect(receiver.received).toEqual([])
    expect(engines.counted()).toContain('callback_failed')
  })

  it('is not sent for a deleted job, also when it is deleted in the last moment', async () => {
    const deleted = await succeededJob()
    await pipeline.remove(deleted)
    await send(deleted)
    const late = await succeededJob()
    const openUrlSigner = async () => {
      await pipeline.remove(late)
      return signUrl
    }
    await sendJobCallback({ tenantId: late.tenantId, jobId: late.jobId }, { ...pipeline.context, openUrlSigner })
    expect(receiver.received).toEqual([])
  })

  it('is not sent for a job that is still open or never asked for one', async () => {
    const open = await processingJob()
    await send(open)
    await send(await succeededJob({ callbackUrl: undefined }))
    expect(receiver.received).toEqual([])
    expect((await pipeline.read(open)).callbackState).toBeUndefined()
  })

  it('that cannot be signed is not claimed, so that nothing is lost', async () => {
    const job = await succeededJob()
    const openUrlSigner = () => Promise.reject(new Error('no key'))
    const broken = sendJobCallback({ tenantId: job.tenantId, jobId: job.jobId }, { ...pipeline.context, openUrlSigner })
    await expect(broken).rejects.toThrow('no key')
    expect((await pipeline.read(job)).callbackState).toBeUndefined()
  })
})

describe('Notify in an execution', () => {
  beforeEach(async () => {
    const config = { callback_allowlist: [receiver.origin], trusted_origins: [engines.results.origin] }
    pipeline = await engines.pipeline({ config })
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
  })

  it.each([
    ['refuses', 500],
    ['redirects', 301],
  ])('calls a receiver that %s once, and the execution succeeds', async (_, status) => {
    onCall = () => status
    const job = await pipeline.create({ callbackUrl: receiver.url })
    const execution = await createVideoMachine(pipeline).run(job)
    expect(execution.status).toBe('SUCCEEDED')
    expect(receiver.received).toHaveLength(1)
    expect(engines.counted()).toContain('callback_failed')
    expect((await pipeline.read(job)).status).toBe('succeeded')
  })

  it('is not retried when its function breaks, and the execution succeeds', async () => {
    const job = await pipeline.create()
    const Notify = () => Promise.reject(Object.assign(new Error('broken'), { name: 'Lambda.Unknown' }))
    const machine = createVideoMachine(pipeline, { interpose: { Notify } })
    expect((await machine.run(job)).status).toBe('SUCCEEDED')
    expect(machine.visited.filter((state) => state === 'Notify')).toHaveLength(1)
  })
})
