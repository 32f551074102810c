import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { VideoJobConflictError, VideoJobNotFoundError } from '#core/errors.ts'
import { resendCallback } from '#lambdas/pipeline/deliver-callback.ts'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { endFailedJob } from '#lambdas/pipeline/resolve-video-job.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'

describe('sendJobCallback: the outcome of a callback', () => {
  let engines: Engines
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
  let pipeline: Pipeline
  beforeAll(async () => {
    engines = await startEngines()
    receiver = await startCallbackReceiver(() => 204)
  })
  beforeEach(async () => {
    engines.reset()
    receiver.received.length = 0
    pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
  })
  afterAll(async () => {
    await Promise.all([engines.close(), receiver.stop()])
  })

  async function endedJob() {
    const job = await pipeline.createAccepted({ callbackUrl: receiver.url })
    await endFailedJob(job, pipeline.context, 'TaskGoneError')
    return job
  }

  const contextOf = () => ({ ...pipeline.context, openUrlSigner: async () => () => 'https://cdn.example/v' })

  it('is recorded as attempt 1 of the automatic callback', async () => {
    const job = await endedJob()
    const at = Math.trunc(pipeline.context.nowMilliseconds() / 1000)
    await sendJobCallback(job, contextOf())
    expect((await pipeline.read(job)).callbackAttempts).toEqual([
      { at, attempt: 1, status: 204, milliseconds: expect.any(Number), delivered: true },
    ])
  })

  it('that cannot be recorded harms neither the step nor the claim', async () => {
    const job = await endedJob()
    const { table } = pipeline.context
    const failing: typeof table = {
      ...table,
      readItem: table.readItem.bind(table),
      updateItem: async (update, options) => {
        if (update.UpdateExpression.includes('callbackAttempts')) {
          throw new Error('the table is gone')
        }
        return await table.updateItem(update, options)
      },
    }
    await sendJobCallback(job, { ...contextOf(), table: failing })
    await sendJobCallback(job, contextOf())
    expect(receiver.received).toHaveLength(1)
    expect(await pipeline.read(job)).toMatchObject({ callbackState: 'sent', callbackAttempts: undefined })
  })
})

describe('resendCallback: a callback that is sent again', () => {
  let engines: Engines
  let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
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

  const contextOf = () => ({ ...pipeline.context, openUrlSigner: async () => () => 'https://cdn.example/v' })
  const resend = (job: NewVideoJob) => resendCallback({ tenantId: job.tenantId, jobId: job.jobId }, contextOf())

  async function endedJob(changes: Partial<NewVideoJob> = {}): Promise<NewVideoJob> {
    const job = await pipeline.createAccepted({ callbackUrl: receiver.url, ...changes })
    await endFailedJob(job, pipeline.context, 'TaskGoneError')
    return job
  }

  it('has the same id and body, a fresh timestamp and signature, and the next number', async () => {
    const job = await endedJob()
    await sendJobCallback(job, contextOf())
    pipeline.clock.advance(3)
    const attempt = await resend(job)
    expect(attempt).toMatchObject({ attempt: 2, status: 200, delivered: true })
    const [first, second] = receiver.received
    expect(second?.body).toBe(first?.body)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    const times = [first, second].map((call) => Number(call?.headers['webhook-timestamp']))
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(3)
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature'])
    expect((await pipeline.read(job)).callbackAttempts).toMatchObject([{ attempt: 1 }, { attempt: 2 }])
  })

  it('is claimed before the connection is made, and leaves the automatic callback as it is', async () => {
    const job = await endedJob()
    const seen: unknown[] = []
    onCall = async () => {
      const { callbackResends, callbackState } = await pipeline.read(job)
      seen.push([callbackResends, callbackState])
      return 200
    }
    await resend(job)
    await sendJobCallback(job, contextOf())
    expect(seen).toEqual([
      [1, undefined],
      [1, 'sent'],
    ])
  })

  it('tells and records why a receiver did not take it', async () => {
    onCall = () => 503
    const job = await endedJob()
    const refused = { attempt: 2, status: 503, error: 'the receiver said 503', delivered: false }
    expect(await resend(job)).toMatchObject(refused)
    expect((await pipeline.read(job)).callbackAttempts).toMatchObject([refused])
  })

  it('is not sent to a host that has left the allowlist since, and says so without the url', async () => {
    const job = await endedJob({ callbackUrl: `${receiver.origin}/hook?secret=1` })
    const { catalogue } = pipeline.context
    const config = { ...catalogue.config, callback_allowlist: [] }
    const context = { ...contextOf(), catalogue: { ...catalogue, config } }
    const attempt = await resendCallback({ tenantId: job.tenantId, jobId: job.jobId }, context)
    expect(attempt).toMatchObject({ attempt: 2, status: undefined, delivered: false })
    expect(attempt.error).toBeDefined()
    expect(JSON.stringify(attempt)).not.toMatch(/hook|secret/)
    expect(receiver.received).toEqual([])
  })

  it('is sent ten times at most, each under its own number, by any number of requests at once', async () => {
    const job = await endedJob()
    const results = await Promise.allSettled(Array.from({ length: 14 }, () => resend(job)))
    const sent = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.attempt] : []))
    expect(sent.toSorted((left, right) => left - right)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused.map((error) => error instanceof VideoJobConflictError)).toEqual([true, true, true, true])
    expect(receiver.received).toHaveLength(10)
    expect((await pipeline.read(job)).callbackAttempts).toHaveLength(10)
  })

  it('is not claimed when it cannot be signed', async () => {
    const job = await endedJob()
    const { table } = pipeline.context
    const readItem: typeof table.readItem = async (key, options) => {
      if (key.PK === 'TENANTS') {
        throw new Error('no secret')
      }
      return await table.readItem(key, options)
    }
    const context = { ...contextOf(), table: { ...table, readItem } }
    await expect(resendCallback({ tenantId: job.tenantId, jobId: job.jobId }, context)).rejects.toThrow('no secret')
    expect((await pipeline.read(job)).callbackResends).toBeUndefined()
  })

  it('is refused before the end, without a url, and for a job that the tenant does not have', async () => {
    await expect(resend(await pipeline.createAccepted({ callbackUrl: receiver.url }))).rejects.toThrow('has not ended')
    await expect(resend(await endedJob({ callbackUrl: undefined }))).rejects.toThrow('without a callback_url')
    const deleted = await endedJob()
    await pipeline.remove(deleted)
    await expect(resend(deleted)).rejects.toBeInstanceOf(VideoJobNotFoundError)
    const foreign = { tenantId: uuidv7(), jobId: (await endedJob()).jobId }
    await expect(resendCallback(foreign, contextOf())).rejects.toBeInstanceOf(VideoJobNotFoundError)
    expect(receiver.received).toEqual([])
  })
})
