import { beforeEach, describe, expect, it } from '@jest/globals'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { pollVideoJob } from '#lambdas/pipeline/poll-video-job/poll-video-job.ts'
import { submitVideoJob } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { addGenerationTime, readUsualSeconds } from '#store/jobs/channels.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { accepted, type Pipeline, running, succeeded } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { breakConnection } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { newJob } from '../engines/video-jobs.ts'
import { createVideoMachine } from '../engines/video-machine.ts'

const engines = useOpened(startEngines)
beforeEach(() => engines.reset())

/** What the test jobs are: five seconds at 720P on the first channel, whose map names the upstream's model. */
const CLASS = { channelId: 'main', className: 'upstream-b#5#720P' }

type Times = { readonly begin: number; readonly end: number }

/** An upstream whose videos take so long; its success answers hold these members. */
function takes(pipeline: Pipeline, seconds: number, members: (times: Times) => object): void {
  let begin = 0
  pipeline.upstream.script.submit = () => {
    begin = pipeline.clock.seconds
    return accepted()
  }
  pipeline.upstream.script.poll = () =>
    pipeline.clock.seconds - begin < seconds
      ? running()
      : succeeded({ video_url: engines.results.url('/video.mp4'), ...members({ begin, end: begin + seconds }) })
}

const p2Times = ({ begin, end }: Times) => ({ created_at: begin, updated_at: end })

/** Runs one job, whose steps must all pass at their first try, and lists the seconds that it waited. */
async function waitsOfJob(pipeline: Pipeline, changes: Parameters<Pipeline['create']>[0] = {}): Promise<number[]> {
  const job = await pipeline.create(changes)
  const waits: number[] = []
  let failures = 0
  const note = async (step: () => Promise<unknown>) => {
    failures += 1
    const next = Object(await step())
    failures -= 1
    waits.push(...(typeof next.waitSeconds === 'number' ? [next.waitSeconds] : []))
    return next
  }
  await createVideoMachine(pipeline, { interpose: { Submit: note, Poll: note } }).run(job)
  expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', error: undefined })
  expect(await pipeline.leftovers(job)).toEqual([])
  expect(failures).toBe(0)
  return waits
}

/** As if eight jobs of the class had taken so long. */
async function haveTaken({ context, clock }: Pipeline, seconds: number): Promise<void> {
  for (let job = 0; job < 8; job += 1) {
    await addGenerationTime(context.table, CLASS, { seconds, nowSeconds: clock.seconds })
  }
}

const usual = ({ context }: Pipeline) => readUsualSeconds(context.table, CLASS)
const kept = ({ context }: Pipeline) =>
  context.table.readItem(tableKeys.generationTimes(CLASS.channelId, CLASS.className))

describe('the waits of a job', () => {
  it('are the start values until eight jobs like it have finished, and then follow what those took', async () => {
    const pipeline = await engines.pipeline()
    takes(pipeline, 200, p2Times)
    const waits: number[][] = []
    for (let job = 0; job < 9; job += 1) {
      waits.push(await waitsOfJob(pipeline))
    }
    expect(await usual(pipeline)).toEqual({ early: 170, median: 200 })
    expect(Math.max(...waits.slice(0, 8).map(([first = 0]) => first))).toBeLessThanOrEqual(50)
    const [first = 0, ...later] = waits[8] ?? []
    expect(first).toBeGreaterThanOrEqual(132)
    expect(later.length).toBeLessThan(Math.min(...waits.slice(0, 8).map(({ length }) => length)) - 1)
    expect(Math.max(...later)).toBeLessThanOrEqual(7)
    expect(Math.max(...(waits[0]?.slice(1) ?? []))).toBeGreaterThan(7)
    expect(await verifyLedger(pipeline.context.table)).toEqual([])
  })

  it('of another length do not', async () => {
    const pipeline = await engines.pipeline()
    takes(pipeline, 200, p2Times)
    await haveTaken(pipeline, 200)
    const { request } = newJob(pipeline.tenant)
    const inline = 'inline' in request ? request.inline.replace('"duration":5', '"duration":10') : ''
    expect((await waitsOfJob(pipeline, { request: { inline } }))[0]).toBeLessThanOrEqual(50)
    expect((await waitsOfJob(pipeline))[0]).toBeGreaterThanOrEqual(132)
  })

  it('stay those of the channel where a configuration polls every second', async () => {
    const poll = { first_seconds: 1, interval_seconds: 1 }
    const pipeline = await engines.pipeline({ channels: { main: { poll } } })
    takes(pipeline, 20, p2Times)
    await haveTaken(pipeline, 400)
    expect(new Set(await waitsOfJob(pipeline))).toEqual(new Set([1]))
  })

  it('are learnt from the middle of the last wait where the upstream reports no times, or absurd ones', async () => {
    const members = [
      () => ({}),
      () => ({ created_at: 5, updated_at: 5 }),
      () => ({ created_at: 1, updated_at: 99_999 }),
    ]
    for (const each of members) {
      const pipeline = await engines.pipeline()
      takes(pipeline, 60, each)
      const [first = 0, ...later] = await waitsOfJob(pipeline)
      const last = later.at(-1) ?? 0
      const found = first + later.reduce((sum, wait) => sum + wait, 0)
      expect(await kept(pipeline)).toMatchObject({ samples: 1 })
      const learnt = Math.exp(Number((await kept(pipeline))?.logSum) / 1000)
      expect(Math.abs(learnt - (found - last / 2))).toBeLessThan(1.1)
    }
  })

  it('are learnt once from a job whose success is polled again after a lost reply', async () => {
    const pipeline = await engines.pipeline()
    takes(pipeline, 30, p2Times)
    const job = await pipeline.create()
    const Poll = async (step: () => Promise<unknown>) => {
      await step()
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(await kept(pipeline)).toMatchObject({ samples: 1 })
  })

  it('are the start values, and the job succeeds, while the times can neither be read nor written', async () => {
    const pipeline = await engines.pipeline()
    takes(pipeline, 200, p2Times)
    await haveTaken(pipeline, 200)
    const { left } = breakConnection(pipeline.context.table, 'GT#main', { kind: 'request_lost', times: 2 })
    expect((await waitsOfJob(pipeline))[0]).toBeLessThanOrEqual(50)
    expect(left()).toBe(0)
    expect(await kept(pipeline)).toMatchObject({ samples: 8 })
  })

  it('are learnt from nothing but successes', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = () => ({ kind: 'failed', text: '{"created_at":1,"updated_at":30}', message: 'no' })
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect((await pipeline.read(job)).status).toBe('failed')
    expect(await kept(pipeline)).toBeUndefined()
  })

  it('of jobs that ask in the same moment keep their polls apart by the share of the channel', async () => {
    const poll = { requests_per_second: 4 }
    const pipeline = await engines.pipeline({ channels: { main: { poll } } })
    const jobs = [await pipeline.create(), await pipeline.create(), await pipeline.create()]
    const start = pipeline.clock.milliseconds
    const polledAfter: number[] = []
    pipeline.upstream.script.poll = () => {
      polledAfter.push(pipeline.clock.milliseconds - start)
      return running()
    }
    for (const { tenantId, jobId } of jobs) {
      await submitVideoJob({ tenantId, jobId }, pipeline.context)
    }
    for (const { tenantId, jobId } of jobs) {
      pipeline.clock.milliseconds = start
      await pollVideoJob({ tenantId, jobId }, pipeline.context)
    }
    expect(polledAfter.map(Math.round)).toEqual([0, 250, 500])
  })

  it('cost one read of the class at the submit and one write at the end', async () => {
    const pipeline = await engines.pipeline()
    takes(pipeline, 60, p2Times)
    const commands: string[] = []
    pipeline.context.table.client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (
            JSON.stringify(args.input, (_key, value) => (typeof value === 'bigint' ? `${value}` : value)).includes(
              'GT#main',
            )
          ) {
            commands.push(String(commandName))
          }
          return next(args)
        },
      { step: 'initialize' },
    )
    await waitsOfJob(pipeline)
    expect(commands).toEqual(['GetItemCommand', 'UpdateItemCommand'])
  })
})
