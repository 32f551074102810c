import { describe, expect, it } from 'vitest'
import { takePollToken } from '#store/jobs/channels.ts'
import { succeeded } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

const engines = useOpened(startEngines)

describe('a job of a crowded channel', () => {
  it('that got no token at its deadline is not given up before it has had its poll', async () => {
    const poll = { first_seconds: 40, interval_seconds: 30, requests_per_second: 1 }
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1, poll } } })
    pipeline.upstream.script.poll = () => succeeded({ video_url: engines.results.url('/video.mp4') })
    const { table } = pipeline.context
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      const nowMilliseconds = pipeline.clock.milliseconds
      for (let taken = 0; visit < 14 && taken < 3; taken += 1) {
        await takePollToken(table, { channelId: 'main', perSecond: 1, nowMilliseconds })
      }
      return await step()
    }
    const job = await pipeline.create()
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.upstream.polls).toBe(1)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that never gets a token is given up a minute after its deadline', async () => {
    const poll = { first_seconds: 40, interval_seconds: 30, requests_per_second: 1 }
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1, poll } } })
    const { table } = pipeline.context
    const Poll = async (step: () => Promise<unknown>) => {
      const nowMilliseconds = pipeline.clock.milliseconds
      for (let taken = 0; taken < 3; taken += 1) {
        await takePollToken(table, { channelId: 'main', perSecond: 1, nowMilliseconds })
      }
      return await step()
    }
    const job = await pipeline.create()
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.upstream.polls).toBe(0)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})
