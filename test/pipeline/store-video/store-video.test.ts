import { S3Client, UploadPartCommand } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { failVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import { putText } from '#store/bucket/bucket.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { box, fileType } from '../../core/media-files.ts'
import { inTurn, type Pipeline, succeeded } from '../../engines/pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'
import { CLIP } from '../../engines/test-servers.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { createVideoMachine, type VideoMachine } from '../../engines/video-machine.ts'

/** More than the parts that may be in flight at once. */
const LARGE_BYTES = 40 * 1024 * 1024

/** Fails so many downloads of `/flaky.mp4`. */
let failuresLeft = 0

/** Happens while `/waiting.mp4` is downloaded. */
let duringDownload: () => Promise<unknown> = () => Promise.resolve()

const engines = useOpened(() =>
  startEngines({
    '/flaky.mp4': (_request, response) => {
      failuresLeft -= 1
      if (failuresLeft >= 0) {
        response.writeHead(503).end()
      } else {
        response.writeHead(200).end(CLIP)
      }
    },
    '/waiting.mp4': async (_request, response) => {
      await duringDownload()
      response.writeHead(200).end(CLIP)
    },
    '/page.html': (_request, response) =>
      response.writeHead(200, { 'content-type': 'video/mp4' }).end('<html>sorry</html>'),
    '/empty.mp4': (_request, response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end(),
    '/cut.mp4': (_request, response) => {
      response.writeHead(200, { 'content-length': CLIP.length })
      response.write(CLIP.subarray(0, CLIP.length / 2), () => response.destroy())
    },
    // Without a length and in order: only the boxes tell that `moov`, which would come last, is missing.
    '/cut-in-order.mp4': (_request, response) =>
      response.writeHead(200).end(Buffer.concat([fileType(), box('mdat', Buffer.alloc(9_000)).subarray(0, 5_000)])),
    '/endless.mp4': (_request, response) => {
      response.writeHead(200)
      response.write(CLIP)
      const more = Buffer.alloc(100_000)
      const write = () => {
        while (!response.destroyed && response.write(more)) {}
      }
      response.on('drain', write)
      write()
    },
    '/large.mp4': (_request, response) => response.writeHead(200).end(Buffer.concat([CLIP, Buffer.alloc(LARGE_BYTES)])),
    '/moved.mp4': (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  }),
)
beforeEach(() => engines.reset())

type Run = {
  readonly pipeline: Pipeline
  readonly job: NewVideoJob
  readonly machine: VideoMachine
  readonly seconds: number
}

async function store(
  path: string,
  options: Parameters<Engines['pipeline']>[0] = {},
): Promise<Run & { record: VideoJob }> {
  const pipeline = await engines.pipeline(options)
  const url = path.startsWith('/') ? engines.results.url(path) : path
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: url, seconds: 3 }))
  const job = await pipeline.create()
  const machine = createVideoMachine(pipeline)
  const start = pipeline.clock.seconds
  await machine.run(job)
  expect(await pipeline.leftovers(job)).toEqual([])
  return { pipeline, job, machine, seconds: pipeline.clock.seconds - start, record: await pipeline.read(job) }
}

describe('the Store step: a store', () => {
  it('is tried again until the upstream hands the file out', async () => {
    failuresLeft = 3
    const { record, machine, job } = await store('/flaky.mp4')
    expect(record.status).toBe('succeeded')
    expect(machine.visited.filter((state) => state === 'Store')).toHaveLength(4)
    expect(await engines.bucket.bytes(job.videoKey)).toEqual(CLIP)
  })

  it('is given up after an hour of tries, and leaves nothing in the bucket', async () => {
    const { record, seconds, job } = await store('/missing.mp4')
    expect(record).toMatchObject({ status: 'failed', error: 'result could not be stored' })
    expect(seconds).toBeGreaterThanOrEqual(60 * 60)
    expect(seconds).toBeLessThan(67 * 60)
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it.each([
    ['a page that calls itself a video', '/page.html'],
    ['an empty file', '/empty.mp4'],
  ])('of %s fails the job at once', async (_, path) => {
    const { record, machine, job } = await store(path)
    expect(record).toMatchObject({ status: 'failed', error: 'upstream result is not a video' })
    expect(machine.visited.filter((state) => state === 'Store')).toHaveLength(1)
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it.each([
    ['a file above the cap', '/endless.mp4'],
    ['a file whose announced length is above the cap', '/video.mp4'],
  ])('of %s fails the job at once and keeps nothing of it', async (_, path) => {
    const { record, machine, job } = await store(path, { config: { max_video_bytes: CLIP.length - 1 } })
    expect(record).toMatchObject({ status: 'failed', error: 'result could not be stored' })
    expect(machine.visited.filter((state) => state === 'Store')).toHaveLength(1)
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it.each([
    ['a redirect to a private address', '/moved.mp4'],
    ['a url of another scheme', 'file:///etc/passwd'],
    ['plain http outside the trusted origins', 'http://127.0.0.1:9/video.mp4'],
  ])('is refused for %s, and the job fails at once', async (_, path) => {
    const { record, machine } = await store(path)
    expect(record).toMatchObject({ status: 'failed', error: 'result could not be stored' })
    expect(machine.visited.filter((state) => state === 'Store')).toHaveLength(1)
  })

  it.each(['/page.html', '/empty.mp4', '/moved.mp4', 'file:///etc/passwd', 'http://127.0.0.1:9/video.mp4'])(
    'of %s counts once as a refused result, so that an alarm names its channel',
    async (path) => {
      await store(path)
      expect(engines.counted().filter((fact) => fact === 'result_refused')).toHaveLength(1)
    },
  )

  it('of a file that is not there yet counts as no refused result', async () => {
    failuresLeft = 1
    await store('/flaky.mp4')
    expect(engines.counted()).toContain('store_failed')
    expect(engines.counted()).not.toContain('result_refused')
  })

  it.each([
    ['whose connection breaks', '/cut.mp4'],
    ['that ends in order inside of its media', '/cut-in-order.mp4'],
  ])('of a download %s may be tried again, and leaves no half object', async (_, path) => {
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, path)
    await expect(storeVideo(job, pipeline.context)).rejects.toMatchObject({ name: 'StoreFailedError' })
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it.each(['SlowDown', 'ConditionalRequestConflict'])('is tried again when the bucket says %s', async (name) => {
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, '/video.mp4')
    const send = jest.spyOn(S3Client.prototype, 'send')
    send.mockImplementationOnce(() => Promise.reject(Object.assign(new Error(name), { name })))
    await expect(storeVideo(job, pipeline.context)).rejects.toMatchObject({ name: 'StoreFailedError' })
    send.mockRestore()
    expect(await storeVideo(job, pipeline.context)).toEqual({ step: 'settle' })
    expect(await engines.bucket.bytes(job.videoKey)).toEqual(CLIP)
  })

  it('whose bucket breaks in the middle of a large file ends, and leaves nothing', async () => {
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, '/large.mp4')
    const original = S3Client.prototype.send
    let parts = 0
    const send = jest.spyOn(S3Client.prototype, 'send').mockImplementation(function (this: S3Client, command: object) {
      parts += command instanceof UploadPartCommand ? 1 : 0
      const isBroken = command instanceof UploadPartCommand && parts === 2
      return isBroken ? Promise.reject(new Error('broken')) : Reflect.apply(original, this, [command])
    })
    await expect(storeVideo(job, pipeline.context)).rejects.toMatchObject({ name: 'StoreFailedError' })
    send.mockRestore()
    expect(parts).toBeGreaterThanOrEqual(2)
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it('twice at the same time makes one object, and the second is no failure', async () => {
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, '/video.mp4')
    const both = await Promise.all([storeVideo(job, pipeline.context), storeVideo(job, pipeline.context)])
    expect(both).toEqual([{ step: 'settle' }, { step: 'settle' }])
    expect(await engines.bucket.keys(job.videoKey)).toEqual([job.videoKey])
    expect(await engines.bucket.bytes(job.videoKey)).toEqual(CLIP)
  })

  it('of a job that has failed deletes what an earlier try stored too late', async () => {
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, '/video.mp4')
    await failVideoJob({ ...job, failure: { Error: 'StoreFailedError' } }, pipeline.context)
    // The earlier try ended here, before it saw that the job had failed.
    await putText(await pipeline.context.openBucket(), job.videoKey, 'a video')
    expect(await storeVideo(job, pipeline.context)).toEqual({ step: 'notify' })
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it('of a job that fails meanwhile deletes what it stored', async () => {
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, '/waiting.mp4')
    duringDownload = () => failVideoJob({ ...job, failure: { Error: 'StoreFailedError' } }, pipeline.context)
    await storeVideo(job, pipeline.context)
    expect((await pipeline.read(job)).status).toBe('failed')
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
  })

  it('of a stored video is not done again', async () => {
    failuresLeft = 0
    const pipeline = await engines.pipeline()
    const job = await processed(pipeline, '/flaky.mp4')
    await storeVideo(job, pipeline.context)
    await storeVideo(job, pipeline.context)
    expect(failuresLeft).toBe(-1)
  })
})

/** A job whose upstream has finished and which was not stored yet. */
async function processed(pipeline: Pipeline, path: string): Promise<NewVideoJob> {
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url(path), seconds: 3 }))
  const job = await pipeline.create()
  const stopped = () => Promise.reject(new Error('stopped here'))
  await createVideoMachine(pipeline, {
    interpose: { Store: stopped, Fail: async () => ({}), Notify: async () => ({}) },
  }).run(job)
  return job
}
