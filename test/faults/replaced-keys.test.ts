import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamHttp, type UpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import { createVideoMachine } from '../engines/run-video-machine.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { jsonReply, openWirePipeline, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

let engines: Engines
let upstream: WireUpstream
let http: UpstreamHttp
beforeAll(async () => {
  engines = await startEngines()
  upstream = await startWireUpstream()
  http = createUpstreamHttp()
})
beforeEach(() => engines.reset())
afterAll(async () => {
  http.close()
  await Promise.all([engines.close(), upstream.stop()])
})

const REFUSED = jsonReply(401, '{"error":{"code":"AuthenticationError","message":"the API key is wrong"}}')
const ACCEPTED = '{"id":"cgt-1"}'
const success = () => JSON.stringify({ status: 'succeeded', content: { video_url: engines.results.url('/video.mp4') } })
const open = (through = http) =>
  openWirePipeline(engines, { upstream, http: through, renewedCredential: async () => 'new key' })

describe('an upstream key replaced while functions cache the old one', () => {
  it('fails no job: submit and poll are repeated once, with one task and one billed video', async () => {
    upstream.play({ submits: [REFUSED, ACCEPTED], polls: [REFUSED, success()] })
    const pipeline = await open()
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
    expect(upstream.seen).toEqual({ submits: 2, polls: 2, cancels: 0 })
    expect(machine.visited.filter((state) => state === 'Submit' || state === 'Poll')).toEqual(['Submit', 'Poll'])
    expect(engines.counted()).not.toContain('channel_refused')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('disables the channel and releases the reservation if the new key is refused too', async () => {
    upstream.play({ submits: [REFUSED, REFUSED, ACCEPTED] })
    const pipeline = await open()
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'no upstream capacity' })
    expect(upstream.seen.submits).toBe(2)
    expect(engines.counted().filter((fact) => fact === 'channel_refused')).toHaveLength(1)
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('causes no second task if the function dies after the second submit, whose outcome is unknown', async () => {
    upstream.play({ submits: [REFUSED, ACCEPTED, ACCEPTED] })
    const died = Promise.withResolvers<never>()
    const deadly: UpstreamHttp = {
      ...http,
      send: async (request) => {
        const answer = await http.send(request)
        if (answer.kind === 'response' && answer.status === 200) {
          died.reject(Object.assign(new Error('the process ended'), { name: 'Lambda.Unknown' }))
          return await new Promise(() => {})
        }
        return answer
      },
    }
    const pipeline = await open(deadly)
    const job = await pipeline.create()
    const interpose = {
      Submit: (step: () => Promise<unknown>, visit: number) =>
        visit === 1 ? Promise.race([step(), died.promise]) : step(),
    }
    await createVideoMachine(pipeline, { interpose }).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(upstream.seen).toEqual({ submits: 2, polls: 0, cancels: 0 })
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})
