import { beforeEach, describe, expect, it } from 'vitest'
import type { ChannelChange, ModelChange } from '#core/catalogue/switches.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { changeSwitch } from '#store/switches.ts'
import { accepted, inTurn, type Pipeline, succeeded } from '../../engines/pipeline.ts'
import { startEngines } from '../../engines/start-engines.ts'
import { PER_SECOND_MODEL } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

const engines = useOpened(startEngines)
beforeEach(() => engines.reset())

/** A pipeline whose Submit reads the switches by the clock of the test. */
async function switchedPipeline() {
  const pipeline = await engines.pipeline()
  const { table, catalogue } = pipeline.context
  const currentCatalogue = new CurrentCatalogue({ table, catalogue, clock: pipeline.context })
  pipeline.upstream.script.submit = inTurn(accepted())
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4') }))
  return { ...pipeline, context: { ...pipeline.context, currentCatalogue } }
}

const change = ({ context }: Pipeline, asked: ChannelChange | ModelChange) =>
  changeSwitch(context.table, asked, { actor: { name: 'operator', role: 'operator' }, at: 1 })
const disable = (pipeline: Pipeline, id: string) => change(pipeline, { kind: 'channel', id, action: 'disable' })

describe('a disabled channel', () => {
  it('gets no new job, and its open job is polled, stored and settled', async () => {
    const pipeline = await switchedPipeline()
    const open = await pipeline.create()
    let later: Awaited<ReturnType<Pipeline['create']>> | undefined
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 1) {
        await disable(pipeline, 'main')
        pipeline.clock.advance(15)
        later = await pipeline.create()
        await createVideoMachine(pipeline).run(later)
      }
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(open)
    expect(pipeline.upstream.submitted).toEqual(['main', 'spare'])
    expect(await pipeline.read(open)).toMatchObject({ status: 'succeeded', channelId: 'main' })
    expect(later && (await pipeline.read(later))).toMatchObject({ status: 'succeeded', channelId: 'spare' })
    expect(await pipeline.spent()).toBe('0.84')
    expect(await pipeline.leftovers(open)).toEqual([])
  })

  it('is not given a job that was on its way to it when the switches became 15 seconds old', async () => {
    const pipeline = await switchedPipeline()
    const { openProvider } = pipeline.context
    let isFirst = true
    const context = {
      ...pipeline.context,
      openProvider: async (...parameters: Parameters<typeof openProvider>) => {
        if (isFirst) {
          isFirst = false
          await disable(pipeline, 'main')
          pipeline.clock.advance(15)
        }
        return await openProvider(...parameters)
      },
    }
    const job = await pipeline.create()
    await createVideoMachine({ ...pipeline, context }).run(job)
    expect(pipeline.upstream.submitted).toEqual(['spare'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
  })
})

describe('a job all of whose channels are disabled', () => {
  it('waits, queued, and goes on when a channel is enabled', async () => {
    const pipeline = await switchedPipeline()
    await disable(pipeline, 'main')
    await disable(pipeline, 'spare')
    const job = await pipeline.create()
    const states: unknown[] = []
    const Submit = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 3) {
        states.push(await pipeline.read(job))
        await change(pipeline, { kind: 'channel', id: 'spare', action: 'enable' })
      }
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Submit } }).run(job)
    expect(states).toMatchObject([
      {
        status: 'queued',
        isWaitingForChannel: true,
        submitState: undefined,
        failureCause: 'main: is disabled; spare: is disabled',
      },
    ])
    const record = await pipeline.read(job)
    expect(record).toMatchObject({ status: 'succeeded', channelId: 'spare' })
    expect(record.failureCause).toBeUndefined()
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('fails with "no upstream capacity" after the queue time, released', async () => {
    const pipeline = await switchedPipeline()
    await disable(pipeline, 'main')
    await disable(pipeline, 'spare')
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'no upstream capacity' })
    expect(pipeline.clock.seconds - start).toBeGreaterThanOrEqual(60 * 60)
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await pipeline.spent()).toBe('0')
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('a job offered to channels', () => {
  it('follows the priorities that an operator set', async () => {
    const pipeline = await switchedPipeline()
    await change(pipeline, { kind: 'channel', id: 'main', action: 'priority', value: 9 })
    await createVideoMachine(pipeline).run(await pipeline.create())
    expect(pipeline.upstream.submitted).toEqual(['spare'])
  })

  it('goes on when its model was disabled after the create', async () => {
    const pipeline = await switchedPipeline()
    const job = await pipeline.create()
    await change(pipeline, { kind: 'model', id: PER_SECOND_MODEL, action: 'disable' })
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', channelId: 'main' })
  })
})
