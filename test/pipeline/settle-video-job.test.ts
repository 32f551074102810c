import { beforeEach, describe, expect, it } from 'vitest'
import { ServiceUnavailableError } from '#core/errors.ts'
import { formatCredits } from '#core/money.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { inTurn, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { createVideoMachine } from '../engines/video-machine.ts'

const engines = useOpened(startEngines)
beforeEach(() => engines.reset())

async function pipelineWith(
  usage: Readonly<Record<string, unknown>>,
  options: Parameters<Engines['pipeline']>[0] = {},
) {
  const pipeline = await engines.pipeline(options)
  pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), ...usage }))
  return pipeline
}

const unavailable = () => Promise.reject(new ServiceUnavailableError())

describe('a settlement', () => {
  it('is tried again while the table is contended, and bills once', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const Settle = (step: () => Promise<unknown>, visit: number) => (visit < 3 ? unavailable() : step())
    const machine = createVideoMachine(pipeline, { interpose: { Settle } })
    await machine.run(job)
    expect(machine.visited.filter((state) => state === 'Settle')).toHaveLength(3)
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('is by what the upstream reported, although its channel has left the configuration since', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const without = { ...pipeline.context.catalogue, findVideoChannel: () => undefined }
    const leave = async (step: () => Promise<unknown>) => {
      Object.assign(pipeline.context, { catalogue: without })
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Store: leave } }).run(job)
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('whose reply was lost is not repeated', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const Settle = async (step: () => Promise<unknown>, visit: number) => {
      await step()
      return visit === 1 ? await unavailable() : { step: 'done' }
    }
    await createVideoMachine(pipeline, { interpose: { Settle } }).run(job)
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that outlasts its tries is made up for by the failure path: the stored video is billed and delivered', async () => {
    const pipeline = await pipelineWith({ seconds: 3 })
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline, { interpose: { Settle: unavailable } })
    await machine.run(job)
    expect(machine.visited.slice(-2)).toEqual(['Fail', 'Notify'])
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.spent()).toBe('0.42')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('above the reservation takes the balance below zero by the difference and is counted', async () => {
    const pipeline = await pipelineWith({ seconds: 10 }, { credits: '1' })
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    expect(formatCredits(balance.available)).toBe('-0.4')
    expect(engines.counted()).toContain('overdraft')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('above what the model can make is billed at that bound, as frozen at creation, and counted', async () => {
    const pipeline = await pipelineWith({ seconds: 3600 }, { credits: '1' })
    const prices = [{ resolution: 'any' as const, audio: 'any' as const, video_input: 'any' as const, price: '0.14' }]
    const job = await pipeline.create({ snapshot: { billing: 'per_second', prices, quantityMax: 7 } })
    await createVideoMachine(pipeline).run(job)
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    expect([await pipeline.spent(), formatCredits(balance.available)]).toEqual(['0.98', '0.02'])
    expect(engines.counted()).toContain('usage_above_bound')
  })

  it('uses the prices frozen at creation, whatever the configuration says now', async () => {
    const pipeline = await pipelineWith({ seconds: 10 })
    const prices = [{ resolution: 'any' as const, audio: 'any' as const, video_input: 'any' as const, price: '0.01' }]
    const job = await pipeline.create({ snapshot: { billing: 'per_second', prices, quantityMax: 60 } })
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.spent()).toBe('0.1')
  })

  it('bills the locked estimate when a token-billed upstream leaves its usage out', async () => {
    const pipeline = await pipelineWith({})
    const prices = [{ resolution: 'any' as const, audio: 'any' as const, video_input: 'any' as const, price: '7' }]
    const job = await pipeline.create({ snapshot: { billing: 'token', prices, quantityMax: 1_000_000 } })
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.spent()).toBe('0.7')
    expect(engines.counted()).toContain('billed_at_estimate')
  })

  it.each([
    ['4.999', '0.69986'],
    ['0.0000036', '0.000001'],
  ])('of %s seconds rounds half up once, to a millionth of a credit', async (seconds, cost) => {
    const pipeline = await pipelineWith({ seconds })
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.spent()).toBe(cost)
  })
})
