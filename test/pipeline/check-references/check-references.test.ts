import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { CHECK_MILLISECONDS_MAX, checkReferences } from '#lambdas/pipeline/check-references/check-references.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { jpegFile, pngFile, track, videoFile } from '../../core/media-files.ts'
import { inTurn, type Pipeline, succeeded } from '../../engines/pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { REQUEST } from '../../engines/video-jobs.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

const FILES: Readonly<Record<string, Buffer>> = {
  '/good.png': pngFile({ width: 640, height: 360 }),
  '/good.jpg': jpegFile({ width: 640, height: 360 }),
  '/small.png?signature=secret': pngFile({ width: 299, height: 400 }),
  '/good.mp4': videoFile(),
  '/slow.mp4': videoFile({ tracks: [track({ runs: [[15, 4800]] })] }),
  '/long.mp4': videoFile({ length: 72_400, tracks: [track({ length: 72_400 })] }),
  '/page.png': Buffer.from('<!DOCTYPE html><title>Please sign in to see this picture</title>'),
}

/** Files that never come. */
const SILENT = Array.from({ length: 9 }, (_, index) => `/silent-${index}.png`)

let engines: Engines
/** What happens elsewhere before a file is served. */
let whileServing: () => Promise<unknown> = async () => {}
/** Of `/counted.png`: how often it was asked for, and that somebody has read it to its end. */
let timesAsked = 0
let wasRead: PromiseWithResolvers<unknown> = Promise.withResolvers()
beforeAll(async () => {
  const routes = Object.entries(FILES).map(([path, file]) => [
    path,
    (_: unknown, response: ServerResponse) => response.writeHead(200, { 'content-length': file.length }).end(file),
  ])
  const claiming = (_: unknown, response: ServerResponse) =>
    whileServing().then(() => response.end(FILES['/small.png?signature=secret']))
  const silent = SILENT.map((path) => [path, () => {}])
  const counted = (_: unknown, response: ServerResponse) => {
    timesAsked += 1
    response.once('close', () => wasRead.resolve(undefined)).end(FILES['/good.png'])
  }
  const others = { '/claiming.png': claiming, '/counted.png': counted }
  engines = await startEngines({ ...Object.fromEntries([...routes, ...silent]), ...others })
})
afterAll(() => engines.close())
beforeEach(() => {
  engines.reset()
  timesAsked = 0
  wasRead = Promise.withResolvers()
})

const LIMITS = {
  images: { formats: ['jpeg' as const, 'png' as const], short_side_min: 300, aspect_ratio_max: 2.5, bytes_max: 1000 },
  videos: { formats: ['mp4' as const], frames_per_second_min: 8, bytes_max: 100_000 },
}

type Setting = { readonly isLimited?: boolean; readonly isChecking?: boolean }

/** Both channels look at references of the model, unless said; the upstream succeeds at the first poll. */
async function openPipeline({ isLimited = true, isChecking = true }: Setting = {}): Promise<Pipeline> {
  const models = testCatalogue().config.models.map((model) =>
    model.kind === 'video' && isLimited ? { ...model, reference_limits: LIMITS, input_video_seconds_max: 60 } : model,
  )
  const channel = { reference_checks: isChecking }
  const pipeline = await engines.pipeline({ config: { models }, channels: { main: channel, spare: channel } })
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4') }))
  return pipeline
}

const linked = (path: string) => (path.startsWith('/') ? engines.results.url(path) : path)

async function create(pipeline: Pipeline, images: readonly string[], videos: readonly string[] = []) {
  const references: Partial<VideoJobRequest> = { image_urls: images.map(linked), video_urls: videos.map(linked) }
  return await pipeline.create({ request: { inline: JSON.stringify({ ...REQUEST, ...references }) } })
}

const WHOLE_WAY = ['Submit', 'CheckReferences', 'Submit', 'Poll', 'Store', 'Settle', 'Notify']

describe('CheckReferences: a reference that breaks a limit', () => {
  it.each([
    [
      ['/good.png', '/small.png?signature=secret'],
      [],
      'image_urls[1] (small.png) has 299x400 pixels; the shorter side needs 300',
    ],
    [['/good.mp4'], [], 'image_urls[0] (good.mp4) has the format MP4; allowed: JPEG and PNG'],
    [['/good.png'], ['/long.mp4'], 'video_urls[0] (long.mp4) is 72.4 seconds long; the most is 60'],
    [[], ['/slow.mp4'], 'video_urls[0] (slow.mp4) has 5 frames per second; the least is 8'],
    [
      [`data:image/png;base64,${pngFile({ width: 9000, height: 300 }).toString('base64')}`],
      [],
      'image_urls[0] has 9000x300 pixels; the longer side may be 2.5 times the shorter one at most',
    ],
  ])(
    'fails the job before anything is submitted, with a sentence that names both: %#',
    async (images, videos, error) => {
      const lines = jest.spyOn(logger, 'info')
      const pipeline = await openPipeline()
      const job = await create(pipeline, images, videos)
      const machine = createVideoMachine(pipeline)
      await machine.run(job)
      expect(machine.visited).toEqual(['Submit', 'CheckReferences', 'Fail', 'Notify'])
      expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error, submitState: undefined })
      expect(pipeline.upstream.submitted).toEqual([])
      expect(engines.counted()).toContain('reference_refused')
      expect(await pipeline.leftovers(job)).toEqual([])
      expect(JSON.stringify(lines.mock.calls)).toMatch(/reference refused/)
      expect(JSON.stringify(lines.mock.calls)).not.toMatch(/secret|\.png|\.mp4|base64/)
      lines.mockRestore()
    },
  )

  it('ends the job although the check itself died right after it was recorded', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/small.png?signature=secret'])
    const dies = async (step: () => Promise<unknown>) => {
      await step().catch(() => undefined)
      throw new Error('the function died')
    }
    const machine = createVideoMachine(pipeline, { interpose: { CheckReferences: dies } })
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'CheckReferences', 'Submit', 'Fail', 'Notify'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: expect.stringMatching(/299x400/) })
    expect(pipeline.upstream.submitted).toEqual([])
  })

  it('keeps every later submit from claiming the job', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/small.png?signature=secret'])
    await expect(checkReferences(job, pipeline.context)).rejects.toMatchObject({ name: 'ReferenceRefusedError' })
    await expect(checkReferences(job, pipeline.context)).rejects.toMatchObject({ name: 'ReferenceRefusedError' })
    const channel = { id: 'main', provider: 'p2', max_open_jobs: 9 } as const
    const claim = await claimSubmit(pipeline.context.table, { job, channel, nowSeconds: pipeline.clock.seconds })
    expect(claim).toBe('job_moved')
  })
})

describe('CheckReferences: several references', () => {
  it('to one file read it once, and each is held against its own limits', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/counted.png', '/counted.png'], ['/counted.png'])
    await expect(checkReferences(job, pipeline.context)).rejects.toMatchObject({ name: 'ReferenceRefusedError' })
    expect((await pipeline.read(job)).failure).toMatch(/^video_urls\[0\] \(counted.png\) has the format PNG/)
    expect(timesAsked).toBe(1)
  })

  it('behind one that breaks a limit are neither waited for nor told as unread', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/good.png', '/small.png?signature=secret', ...SILENT])
    const startedAt = performance.now()
    await expect(checkReferences(job, pipeline.context)).rejects.toMatchObject({ name: 'ReferenceRefusedError' })
    expect(performance.now() - startedAt).toBeLessThan(CHECK_MILLISECONDS_MAX)
    expect((await pipeline.read(job)).failure).toMatch(/^image_urls\[1\]/)
    expect(engines.counted().filter((fact) => fact.startsWith('reference'))).toEqual(['reference_refused'])
  })

  it('are told by the first in the order of the request, although one behind it was known earlier', async () => {
    const pipeline = await openPipeline()
    whileServing = () => wasRead.promise
    const job = await create(pipeline, ['/claiming.png', ...SILENT.slice(0, 2)], ['/counted.png', '/good.mp4'])
    await expect(checkReferences(job, pipeline.context)).rejects.toMatchObject({ name: 'ReferenceRefusedError' })
    expect((await pipeline.read(job)).failure).toMatch(/^image_urls\[0\] \(claiming.png\) has 299x400 pixels/)
  })
})

describe('CheckReferences: references that break no limit', () => {
  it('are looked at once and then submitted once', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/good.png', '/good.jpg'], ['/good.mp4'])
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(WHOLE_WAY)
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect(engines.counted().filter((fact) => fact.startsWith('reference'))).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('are not looked at again when no channel is free at first', async () => {
    const pipeline = await openPipeline()
    pipeline.upstream.script.submit = inTurn(
      { kind: 'busy', reason: '429', retryAfterSeconds: undefined },
      { kind: 'busy', reason: '429', retryAfterSeconds: undefined },
      { kind: 'accepted', taskId: 'task-1', text: '{}' },
    )
    const job = await create(pipeline, ['/good.png'])
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'CheckReferences', ...['Submit', 'Submit'], ...WHOLE_WAY.slice(3)])
  })
})

describe('CheckReferences: a job', () => {
  it.each<[string, Setting, readonly string[]]>([
    ['without references', {}, []],
    ['whose model has no limits', { isLimited: false }, ['/good.png']],
    ['whose channel does not look at references', { isChecking: false }, ['/small.png?signature=secret']],
  ])('%s is submitted at once: no state, no request, no write more', async (_, setting, images) => {
    const pipeline = await openPipeline(setting)
    const job = await create(pipeline, images)
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', ...WHOLE_WAY.slice(3)])
    const record = await pipeline.read(job)
    expect([record.status, record.referenceCheck]).toEqual(['succeeded', undefined])
  })

  it('that is deleted while its references are looked at is released as deleted', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/small.png?signature=secret'])
    const deletes = async (step: () => Promise<unknown>) => {
      await pipeline.remove(job)
      return await step()
    }
    const machine = createVideoMachine(pipeline, { interpose: { CheckReferences: deletes } })
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'CheckReferences', 'Submit', 'Fail', 'Notify'])
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that another execution claims while its references are looked at is left to it', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, ['/claiming.png'])
    const channel = { id: 'main', provider: 'p2', max_open_jobs: 9 } as const
    whileServing = () => claimSubmit(pipeline.context.table, { job, channel, nowSeconds: pipeline.clock.seconds })
    await expect(checkReferences(job, pipeline.context)).resolves.toBeUndefined()
    expect(await pipeline.read(job)).toMatchObject({ submitState: 'sending', failure: undefined })
    await expect(checkReferences(job, pipeline.context)).resolves.toBeUndefined()
  })
})

describe('CheckReferences: a file that cannot be read', () => {
  it.each([
    ['a file that is not there', '/missing.png'],
    ['a page in place of a file', '/page.png'],
    ['a host of the inside', 'http://169.254.169.254/latest/cat.png'],
    ['an image of nonsense in the request', 'data:image/png;base64,AAAA'],
  ])('is left to the upstream: %s', async (_, image) => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, [image])
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(machine.visited).toEqual(WHOLE_WAY)
    expect(engines.counted()).toContain('reference_unread')
  })

  it('delays a job by one bound in all, however many files are silent', async () => {
    const pipeline = await openPipeline()
    const job = await create(pipeline, SILENT)
    const startedAt = performance.now()
    await checkReferences(job, pipeline.context, { totalMilliseconds: 500 })
    expect(performance.now() - startedAt).toBeLessThan(9 * 500)
    expect(engines.counted().filter((fact) => fact === 'reference_unread')).toHaveLength(9)
  })

  it.each(['Lambda.ServiceException', 'Sandbox.Timedout', 'TypeError', 'Lambda.ResourceNotFoundException'])(
    'by a check that fails with %s is submitted all the same, and not looked at again',
    async (name) => {
      const pipeline = await openPipeline()
      const job = await create(pipeline, ['/small.png?signature=secret'])
      const fails = () => Promise.reject(Object.assign(new Error('down'), { name }))
      const machine = createVideoMachine(pipeline, { interpose: { CheckReferences: fails } })
      await machine.run(job)
      expect(machine.visited).toEqual(WHOLE_WAY)
      expect(await pipeline.leftovers(job)).toEqual([])
    },
  )
})
