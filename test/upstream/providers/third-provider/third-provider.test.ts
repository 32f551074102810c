import './register.ts'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { firstPollWait } from '#core/jobs/waits.ts'
import { readVideoResult } from '#lambdas/pipeline/step-context.ts'
import { createUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount } from '#upstream/providers/video-account.ts'
import { type Recording, startRecordedSimulator } from '../../../../lib/simulators/recorded.ts'
import { createPipeline } from '../../../engines/pipeline.ts'
import { startEngines } from '../../../engines/start-engines.ts'
import { PER_SECOND_MODEL } from '../../../engines/test-catalogue.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { REQUEST } from '../../../engines/video-jobs.ts'
import { createVideoMachine } from '../../../engines/video-machine.ts'
import { whenTestEnds } from '../../../runner/when-test-ends.ts'
import { sampleChannel } from '../provider-samples.ts'
import { describeRecordedProvider } from '../recorded-provider.ts'
import { ANY_SUBMIT } from '../replay.ts'

const engines = useOpened(startEngines)

const recording: Recording = JSON.parse(readFileSync(new URL('third.json', import.meta.url), 'utf8'))

describeRecordedProvider({
  recording,
  channel: sampleChannel({ provider: 'third', region: 'north' }),
  outcomes: {
    submit: { kind: 'accepted', taskId: 'j-1' },
    waiting: { kind: 'running', isKnownStatus: true },
    running: { kind: 'running', isKnownStatus: true },
    succeeded: {
      kind: 'succeeded',
      result: { videoUrl: 'https://files.third.example.test/j-1.mp4?key=FAKE', billableSeconds: '5' },
    },
    failed: { kind: 'failed', message: 'the engine stopped' },
    unknown: { kind: 'gone', reason: 'HTTP 404' },
    refused: { kind: 'rejected', message: 'a bad field' },
    cancel: 'cancelled',
    cancelled: { kind: 'failed', message: 'the upstream reported stopped' },
  },
})

const yaml = (baseUrl: string) => `
trusted_origins: [ "${baseUrl}" ]
channels:
  - { id: main, provider: third, region: north, base_url: "${baseUrl}", models: { ${PER_SECOND_MODEL}: e-1 } }
models:
  - id: ${PER_SECOND_MODEL}
    kind: video
    durations: { min: 3, max: 15 }
    resolutions: [ 720P ]
    default_resolution: 720P
    audio: { supported: false, default: false }
    images: { min: 0, max: 0 }
    videos: { min: 0, max: 0 }
    audios: { min: 0, max: 0 }
    billing: per_second
    prices: [ { price: "0.14" } ]
`

/** A pipeline whose only channel is a simulated P3. */
async function openP3({ queueSeconds = 0 } = {}) {
  const upstream = await startRecordedSimulator(recording, { behaviour: { queueSeconds, runSeconds: 0 } })
  const http = createUpstreamHttp()
  whenTestEnds(async () => {
    http.close()
    await upstream.close()
  })
  const catalogue = createCatalogue(gatewayConfigSchema.parse(parse(yaml(upstream.baseUrl))))
  const pipeline = await createPipeline({
    table: await engines.tables.fresh(),
    bucket: engines.bucket.bucket,
    catalogue,
  })
  const open: typeof pipeline.context.openAccount = async (channel) =>
    openVideoAccount(channel, { credential: async () => 'key', http })
  return {
    ...pipeline,
    requests: upstream.requests,
    context: { ...pipeline.context, openAccount: open, readResult: readVideoResult },
  }
}

describe('a third video provider', () => {
  it('takes a job from its creation to a stored and billed video', async () => {
    const pipeline = await openP3()
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline)
    expect((await machine.run(job)).status).toBe('SUCCEEDED')
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Store', 'Settle', 'Notify'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', provider: 'third', channelId: 'main' })
    expect((await engines.bucket.bytes(job.videoKey)).subarray(4, 8).toString()).toBe('ftyp')
    expect(await pipeline.spent()).toBe('0.7')
    expect(await pipeline.leftovers(job)).toEqual([])
    expect(pipeline.requests.slice(0, 2)).toMatchObject([
      { method: 'POST', path: '/north/jobs', headers: { authorization: 'Bearer key' } },
      { method: 'GET', path: expect.stringMatching(/^\/north\/jobs\/./) },
    ])
  })

  it.each([
    ['[fail]', 'the engine stopped'],
    ['[refuse]', 'a bad field'],
    ['[reset]', 'submit outcome unknown'],
  ])('fails a job whose prompt says %s with `%s`', async (prompt, error) => {
    const pipeline = await openP3()
    const job = await pipeline.create({ request: { inline: JSON.stringify({ ...REQUEST, prompt }) } })
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error })
    expect(await pipeline.spent()).toBe('0')
  })

  it('cancels a task that waits', async () => {
    const { context } = await openP3({ queueSeconds: 60 })
    const channel = context.catalogue.findVideoChannel('main')
    const account = channel && (await context.openAccount(channel, { requestId: undefined }))
    const submitted = await account?.submit(ANY_SUBMIT)
    const taskId = submitted?.kind === 'accepted' ? submitted.taskId : ''
    expect(await account?.cancel(taskId)).toBe('cancelled')
    expect(await account?.poll(taskId)).toMatchObject({ kind: 'failed', message: 'the upstream reported stopped' })
    expect(await account?.cancel(taskId)).toBe('refused')
  })

  it('has its own fields, its own rhythm and its own place in error messages of a configuration', () => {
    const { success, error } = gatewayConfigSchema.safeParse(parse(yaml('http://127.0.0.1:9').replace('north', 'west')))
    expect([success, error?.issues[0]?.path]).toEqual([false, ['channels', 0, 'region']])
    const config = gatewayConfigSchema.parse(parse(yaml('http://127.0.0.1:9')))
    const channel = createCatalogue(config).findVideoChannel('main')
    expect(channel).toMatchObject({ provider: 'third', region: 'north', reference_checks: false })
    expect(channel && firstPollWait(channel, 0.5)).toBe(20)
  })
})
