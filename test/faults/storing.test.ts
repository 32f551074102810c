import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { readPartition } from '../engines/audit.ts'
import { startCallbackReceiver } from '../engines/callback-receiver.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { CLIP } from '../engines/result-files.ts'
import { createVideoMachine } from '../engines/run-video-machine.ts'
import { inTurn, succeeded } from '../engines/scripted-upstream.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { faultyBucket } from './faulty-bucket.ts'
import { hurried } from './hurried-time.ts'

/** The SDK's own pauses between its tries pass this much faster. */
const HURRY = 10

/** A part of an upload and a bit. */
const LARGE = Buffer.concat([CLIP, Buffer.alloc(8 * 1024 * 1024)])

let engines: Engines
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
beforeAll(async () => {
  receiver = await startCallbackReceiver()
  engines = await startEngines({ '/large.mp4': (_request, response) => response.writeHead(200).end(LARGE) })
})
afterAll(() => Promise.all([engines.close(), receiver.stop()]))
beforeEach(() => engines.reset())

/** A job that the upstream has finished, with nothing stored yet. */
async function finished(path: string): Promise<{ pipeline: Pipeline; job: NewVideoJob }> {
  const pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url(path), seconds: 3 }))
  const job = await pipeline.create({ callbackUrl: receiver.url })
  const stopped = () => Promise.reject(new Error('stopped here'))
  const interpose = { Store: stopped, Fail: async () => ({}), Notify: async () => ({}) }
  await createVideoMachine(pipeline, { interpose }).run(job)
  return { pipeline, job }
}

type Faults = Parameters<typeof faultyBucket>[1]

/** A finished job whose bucket answers with faults; `store` is one run of the step. */
async function facing(path: string, faults: Faults) {
  const { pipeline, job } = await finished(path)
  const { bucket, asked } = faultyBucket(engines.bucket, faults)
  const context = { ...pipeline.context, openBucket: () => bucket }
  return { job, asked, store: () => hurried(HURRY, () => storeVideo(job, context)) }
}

const SLOW_DOWN = { status: 503, code: 'SlowDown' }
const WRITES = [
  ['PutObject', '/video.mp4', CLIP],
  ['UploadPart', '/large.mp4', LARGE],
  ['CompleteMultipartUpload', '/large.mp4', LARGE],
] as const

/** Tries that the SDK makes of one request, and the requests of the large upload that meet a fault of UploadPart. */
const TRIES = 3
const PARTS = 2

describe('a throttling bucket', () => {
  it.each(WRITES)('is retried by the same step if briefly throttled (%s)', async (operation, path, content) => {
    const { job, store, asked } = await facing(path, { [operation]: { ...SLOW_DOWN, times: 2 } })
    expect(await store()).toEqual({ step: 'settle' })
    expect((await engines.bucket.bytes(job.videoKey)).equals(content)).toBe(true)
    expect(asked).not.toContain('AbortMultipartUpload')
  })

  it.each(WRITES)(
    'is retried by the next step if throttled for longer (%s), and holds nothing until then',
    async (operation, path, content) => {
      const times = operation === 'UploadPart' ? TRIES * PARTS : TRIES
      const { job, store, asked } = await facing(path, { [operation]: { ...SLOW_DOWN, times } })
      await expect(store()).rejects.toMatchObject({ name: 'StoreFailedError' })
      expect(await engines.bucket.keys(job.videoKey)).toEqual([])
      const isBegun = operation !== 'PutObject'
      expect(asked.includes('AbortMultipartUpload')).toBe(isBegun)
      expect(await store()).toEqual({ step: 'settle' })
      expect((await engines.bucket.bytes(job.videoKey)).equals(content)).toBe(true)
    },
  )
})

describe('a bucket with two writes of one key', () => {
  it.each([
    ['PutObject', '/video.mp4', CLIP],
    ['CompleteMultipartUpload', '/large.mp4', LARGE],
  ] as const)('that returns 409 to %s gets the whole video again', async (operation, path, content) => {
    const conflict = { status: 409, code: 'ConditionalRequestConflict', times: 1 }
    const { job, store, asked } = await facing(path, { [operation]: conflict })
    await expect(store()).rejects.toMatchObject({ name: 'StoreFailedError' })
    expect(asked.includes('AbortMultipartUpload')).toBe(operation === 'CompleteMultipartUpload')
    expect(await store()).toEqual({ step: 'settle' })
    expect((await engines.bucket.bytes(job.videoKey)).equals(content)).toBe(true)
  })

  it.each([
    ['PutObject', '/video.mp4', CLIP],
    ['CompleteMultipartUpload', '/large.mp4', LARGE],
  ] as const)('that returns 412 after a lost reply to %s has stored the video', async (operation, path, content) => {
    const lost = { status: 500, code: 'InternalError', times: 1, isDone: true }
    const { job, store, asked } = await facing(path, { [operation]: lost })
    expect(await store()).toEqual({ step: 'settle' })
    expect(asked.filter((each) => each === operation)).toHaveLength(2)
    expect((await engines.bucket.bytes(job.videoKey)).equals(content)).toBe(true)
  })
})

it('a completed upload with an error in its 200 reply does not count as stored', async () => {
  const fault = { status: 200, code: 'InternalError', times: 1 }
  const { job, store } = await facing('/large.mp4', { CompleteMultipartUpload: fault })
  await store().catch(store)
  expect((await engines.bucket.bytes(job.videoKey)).equals(LARGE)).toBe(true)
})

describe('two concurrent stores of one job', () => {
  it.each([
    ['a short', '/video.mp4', CLIP],
    ['a long', '/large.mp4', LARGE],
  ])('with %s video leave one object, one settlement and one callback', async (_, path, content) => {
    receiver.received.length = 0
    const { pipeline, job } = await finished(path)
    let arrived = 0
    const both = Promise.withResolvers<void>()
    const meet = async (step: () => Promise<unknown>) => {
      arrived += 1
      if (arrived === 2) {
        both.resolve()
      }
      await both.promise
      return await step()
    }
    const machines = [1, 2].map(() => createVideoMachine(pipeline, { interpose: { Store: meet } }))
    const executions = await Promise.all(machines.map((machine) => machine.run(job)))
    expect(executions.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED'])
    expect(await engines.bucket.keys(job.videoKey)).toEqual([job.videoKey])
    expect((await engines.bucket.bytes(job.videoKey)).equals(content)).toBe(true)
    const ledger = await readPartition(pipeline.context.table, `L#${job.tenantId}`)
    expect(ledger.filter(({ kind }) => kind === 'settle')).toHaveLength(1)
    expect(await pipeline.leftovers(job)).toEqual([])
    expect(receiver.received).toHaveLength(1)
  })
})
