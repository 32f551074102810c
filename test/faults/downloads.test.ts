import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../../lib/config/platform-facts.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { CLIP } from '../engines/result-files.ts'
import { createVideoMachine } from '../engines/run-video-machine.ts'
import { inTurn, succeeded } from '../engines/scripted-upstream.ts'
import { startEngines } from '../engines/start-engines.ts'
import { startTcpProxy, type TcpProxy, type Toxics } from '../engines/tcp-proxy.ts'
import { useOpened } from '../engines/use-opened.ts'
import { hurried } from './hurried-time.ts'

/** So fast the shipped limits pass: a minute in a second. */
const HURRY = 60

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

describe('faulty downloads', () => {
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
    const timeout = vi.spyOn(AbortSignal, 'timeout')
    timeout.mockImplementation((milliseconds) => realTimeout(isTransfer(milliseconds) ? 200 : milliseconds))
    await expect(store()).rejects.toMatchObject({ name: 'StoreFailedError', cause: { name: 'AbortError' } })
    timeout.mockRestore()
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    await proxy.allClosed()
  })
})
