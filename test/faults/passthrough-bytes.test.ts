import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '#adapters/clock.ts'
import { createUpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import { createJobRenderer } from '#lambdas/pipeline/render-video-job.ts'
import { createVideoMachine } from '../engines/run-video-machine.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { startExecutions } from '../engines/start-executions.ts'
import { openCreateApi } from './create-api.ts'
import { openWirePipeline, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
let upstream: WireUpstream
const http = createUpstreamHttp()
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
  upstream = await startWireUpstream()
})
afterAll(async () => {
  http.close()
  await Promise.all([engines.close(), executions.close(), upstream.stop()])
})

/** Everything that reading and writing JSON again would change, in an order of its own. */
const ODD_MEMBERS = [
  '"z": 5.0',
  '"big":9007199254740993',
  '"twice":1',
  '"1":"before a"',
  '"a" : 1E+2',
  '"twice":2',
  '"__proto__":{"status":"polluted"}',
  '"slash":"\\/\\u00e9\\ud83d"',
  '"nested":{"id":"theirs","status":"theirs","url":"theirs"}',
].join(', ')

it('create and get return the upstream reply byte for byte, with the gateway fields in place of its own', async () => {
  const video = engines.results.url('/video.mp4')
  const answer = (id: string, status: string, rest: string) =>
    `{"id":${id},${ODD_MEMBERS},\n "status":${status}${rest}}`
  upstream.play({
    submits: [answer('"cgt-1"', '"queued"', '')],
    polls: [answer('"cgt-1"', '"succeeded"', `,"duration":5.0,"url":"${video}","error":null`)],
  })
  const pipeline = await openWirePipeline(engines, { upstream, http })
  const machine = createVideoMachine(pipeline)
  executions.use(machine)
  const create = await openCreateApi(pipeline, systemClock)
  const created = await create()
  const { id: jobId, model, created_at: createdAt, expires_at: expiresAt } = JSON.parse(created.text)
  await machine.engine.whenEnded(jobId)
  const job = await pipeline.read({ ...pipeline.tenant, jobId })
  const render = createJobRenderer(pipeline.context.openBucket, async () => () => 'https://cdn.example/signed')
  const injected = `"object":"video.generation","model":"${model}","created_at":${createdAt},"expires_at":${expiresAt}`
  expect(created.text).toBe(answer(`"${jobId}"`, '"queued"', `,${injected}`))
  expect(await render(job, createdAt)).toBe(
    answer(
      `"${jobId}"`,
      '"succeeded"',
      `,"duration":5.0,"url":"https://cdn.example/signed","error":null,${injected},"duration_secs":5`,
    ),
  )
  expect(Object(JSON.parse(created.text)).status).toBe('queued')
  expect(({} as Record<string, unknown>).status).toBeUndefined()
})
