import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../../lib/config/platform-facts.ts'
import { readPartition } from '../engines/audit.ts'
import { inTurn, type Pipeline, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { CLIP, startCallbackReceiver } from '../engines/test-servers.ts'
import { useOpened } from '../engines/use-opened.ts'
import { createVideoMachine } from '../engines/video-machine.ts'
import { faultyBucket } from './faulty-bucket.ts'
import { startTcpProxy, type TcpProxy, type Toxics } from './faulty-connections.ts'
import { hurried } from './hurried-time.ts'

describe('storing', () => {
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
})

describe('faulty downloads', () => {
  /** So fast the shipped limits pass: a minute in four seconds. A connection then has a third of a second, which a busy machine needs. */
  const HURRY = 15

  const ONE_PER_SECOND: Toxics = { sliceBytes: 1, pauseMilliseconds: 1000 / HURRY }

  /** Longer than the head of the answer, and nothing beside its body. */
  const HEAD_BYTES = 1_000

  /** After this the function is ended from outside, without a word. */
  const STORE_MILLISECONDS = FUNCTION_TIMEOUT_SECONDS['store-video'] * 1000

  const HALF = Math.trunc(CLIP.length / 2)
  const BOMB = gzipSync(Buffer.alloc(50_000_000))

  const engines = useOpened(() =>
    startEngines({
      '/announced-longer.mp4': (_request, response) => {
        response.writeHead(200, { 'content-length': CLIP.length + 1 }).write(CLIP, () => response.socket?.end())
      },
      '/announced-shorter.mp4': (_request, response) => {
        const head = `HTTP/1.1 200 OK\r\ncontent-length: ${CLIP.length - 1}\r\nconnection: close\r\n\r\n`
        response.socket?.end(Buffer.concat([Buffer.from(head), CLIP]))
      },
      '/bomb.mp4': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
      '/hidden-bomb.mp4': (_request, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end(BOMB),
      '/endless.mp4': (_request, response) => {
        response.writeHead(200).write(CLIP)
        const more = Buffer.alloc(65_536)
        const timer = setInterval(() => response.write(more), 5)
        response.once('close', () => clearInterval(timer))
      },
    }),
  )
  let proxy: TcpProxy
  /** What becomes of the next connections; the last entry is for all that follow. */
  let toxics: Toxics[]
  beforeAll(async () => {
    proxy = await startTcpProxy(engines.results, () => (toxics.length > 1 ? toxics.shift() : toxics[0]) ?? {})
  })
  afterAll(async () => {
    await proxy.stop()
  })
  beforeEach(() => {
    engines.reset()
    toxics = [{}]
  })

  async function newJob(path: string): Promise<{ pipeline: Pipeline; job: NewVideoJob }> {
    const pipeline = await engines.pipeline({ config: { trusted_origins: [proxy.origin] } })
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: proxy.origin + path, seconds: 3 }))
    return { pipeline, job: await pipeline.create() }
  }

  /** Runs the whole job and answers how it ended and how often it was stored. */
  async function run(path: string) {
    const { pipeline, job } = await newJob(path)
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(await pipeline.leftovers(job)).toEqual([])
    const { status, error } = await pipeline.read(job)
    const stores = machine.visited.filter((state) => state === 'Store').length
    return { status, error, stores, keys: await engines.bucket.keys(job.videoKey), job }
  }

  /** A job that the upstream has finished, with nothing stored yet. */
  async function finished(path: string) {
    const { pipeline, job } = await newJob(path)
    const stopped = () => Promise.reject(new Error('stopped here'))
    const interpose = { Store: stopped, Fail: async () => ({}), Notify: async () => ({}) }
    await createVideoMachine(pipeline, { interpose }).run(job)
    return { pipeline, job, store: () => storeVideo(job, pipeline.context) }
  }

  it.each<[string, Toxics]>([
    ['reset half way', { resetAfterBytes: HALF }],
    ['closed half way', { endAfterBytes: HALF }],
    ['reset before its first byte', { resetAfterBytes: 1 }],
  ])('a download that is %s is retried until the video is complete', async (_, toxic) => {
    toxics = [toxic, toxic, {}]
    const { status, stores, job } = await run('/video.mp4')
    expect({ status, stores }).toEqual({ status: 'succeeded', stores: 3 })
    expect((await engines.bucket.bytes(job.videoKey)).equals(CLIP)).toBe(true)
  })

  it('a late download in slices of odd lengths stores the same video', async () => {
    toxics = [{ latencyMilliseconds: 50, sliceBytes: 1_021 }]
    const { status, stores, job } = await run('/video.mp4')
    expect({ status, stores }).toEqual({ status: 'succeeded', stores: 1 })
    expect((await engines.bucket.bytes(job.videoKey)).equals(CLIP)).toBe(true)
  })

  it.each(['/announced-longer.mp4', '/announced-shorter.mp4'])(
    'a download whose length never matches its header (%s) is given up after an hour, and nothing is kept',
    async (path) => {
      const { status, error, stores, keys } = await run(path)
      expect({ status, error }).toEqual({ status: 'failed', error: 'result could not be stored' })
      expect(stores).toBeGreaterThan(10)
      expect(keys).toEqual([])
    },
  )

  it.each([
    ['a compression bomb', '/bomb.mp4', 'result could not be stored'],
    ['a compression bomb with a video type', '/hidden-bomb.mp4', 'upstream result is not a video'],
  ])('a download of %s fails the job at the first attempt, and nothing is kept', async (_, path, expected) => {
    const { status, error, stores, keys } = await run(path)
    expect({ status, error, stores }).toEqual({ status: 'failed', error: expected, stores: 1 })
    expect(keys).toEqual([])
  })

  it.each<[string, Toxics, string]>([
    ['trickles at one byte per second', { ...ONE_PER_SECOND, sparedBytes: HEAD_BYTES }, 'DownloadTooSlowError'],
    ['trickles from its first header', ONE_PER_SECOND, 'DownloadUnavailableError'],
    ['stalls in the middle', { sparedBytes: HALF, pauseMilliseconds: 100_000 }, 'DownloadTooSlowError'],
  ])('a download that %s is aborted, leaves nothing, and succeeds at the next attempt', async (_, toxic, cause) => {
    const { job, store } = await finished('/video.mp4')
    toxics = [toxic, {}]
    const failure = hurried(HURRY, store)
    await expect(failure).rejects.toMatchObject({ name: 'StoreFailedError', cause: { name: cause } })
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    expect(await store()).toEqual({ step: 'settle' })
    expect((await engines.bucket.bytes(job.videoKey)).equals(CLIP)).toBe(true)
  })

  it('an endless download ends before the timeout of its function, and leaves nothing', async () => {
    const { job, store } = await finished('/endless.mp4')
    const realTimeout = AbortSignal.timeout.bind(AbortSignal)
    const isTransfer = (milliseconds: number) => milliseconds > 60_000 && milliseconds < STORE_MILLISECONDS
    const timeout = jest.spyOn(AbortSignal, 'timeout')
    timeout.mockImplementation((milliseconds) => realTimeout(isTransfer(milliseconds) ? 200 : milliseconds))
    await expect(store()).rejects.toMatchObject({ name: 'StoreFailedError', cause: { name: 'AbortError' } })
    timeout.mockRestore()
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    await proxy.allClosed()
  })
})
