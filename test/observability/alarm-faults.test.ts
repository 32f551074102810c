import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { failVideoJob, settleVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { createUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { captureMetrics, type EmittedMetric } from '../engines/emitted-metrics.ts'
import { startRelayRig } from '../engines/relay-rig.ts'
import { startEngines } from '../engines/start-engines.ts'
import { tableWithClient } from '../engines/test-table.ts'
import { createVideoMachine, startExecutions } from '../engines/video-machine.ts'
import { resourcesOf, shippedConfiguration, stageSettings, synthesizeStack } from '../stack/synthesize-stack.ts'
import { ALARM_FAULTS, type FaultStage, SHARED_FAULTS } from './alarm-faults.ts'
import { alarmsOf, type WatchedMetric } from './watched-metrics.ts'

/** A video channel and a relayed one, under the ids that the rigs below give theirs: some alarms are of one channel. */
const { config } = shippedConfiguration
const channels = config.channels.flatMap((channel) => {
  const id = { 'p2-direct': 'main', 'openai-main': 'channel-0' }[channel.id]
  return id === undefined ? [] : [{ ...channel, id }]
})
const settings = stageSettings({ console: 'on' })
const template = synthesizeStack({ config: { ...config, channels }, settings })
const NAMESPACE = 'Reelgate-test'

const alarms = alarmsOf(template, NAMESPACE).filter(({ watched }) =>
  watched.some(({ namespace }) => namespace === NAMESPACE),
)

/** What a deployed function counts under: taken from the template, so that a test of the two cannot agree by chance. */
const [{ properties } = { properties: {} }] = resourcesOf(template, 'AWS::Lambda::Function').filter(
  ({ properties: { Environment } }) => Environment?.Variables?.POWERTOOLS_METRICS_NAMESPACE !== undefined,
)
const { POWERTOOLS_METRICS_NAMESPACE, POWERTOOLS_SERVICE_NAME } = properties.Environment.Variables

const before = { ...process.env }
let stage: FaultStage
let close: () => Promise<unknown>
let metrics: ReturnType<typeof captureMetrics>

beforeAll(async () => {
  const [engines, executions, relay] = await Promise.all([startEngines(), startExecutions(), startRelayRig()])
  const http = createUpstreamHttp()
  stage = { engines, executions, relay, http }
  Object.assign(process.env, { POWERTOOLS_METRICS_NAMESPACE, POWERTOOLS_SERVICE_NAME })
  metrics = captureMetrics()
  close = () => {
    http.close()
    return Promise.all([engines.close(), executions.close(), relay.close()])
  }
})

afterAll(async () => {
  process.env = before
  await close()
})

function isEmitted(emitted: readonly EmittedMetric[], { namespace, name, dimensions }: WatchedMetric): boolean {
  return emitted.some(
    (each) => each.namespace === namespace && each.name === name && isDeepStrictEqual(each.dimensions, dimensions),
  )
}

describe('alarms on counted facts', () => {
  it('have a fault below, and each fault has an alarm', () => {
    expect(Object.keys(ALARM_FAULTS).toSorted()).toEqual(alarms.map(({ name }) => name).toSorted())
  })

  it.each(alarms)(
    '$name watches the metric of its fault, with the name and dimensions of the template',
    async (alarm) => {
      const count = metrics.emitted().length
      await ALARM_FAULTS[alarm.name]?.(stage)
      const emitted = metrics.emitted().slice(count)
      // The first metric of a share is the part that is bad; the whole also counts what went well.
      const [bad] = alarm.watched
      expect(bad).toBeDefined()
      expect(emitted.filter((each) => bad !== undefined && isEmitted([each], bad))).not.toEqual([])
    },
  )

  it.each(Object.entries(SHARED_FAULTS))('%s is counted by a metric that an alarm watches', async (fact, fault) => {
    const count = metrics.emitted().length
    await fault(stage)
    const counted = metrics
      .emitted()
      .slice(count)
      .filter((each) => each.fact === fact)
    expect(counted).not.toEqual([])
    const watched = alarms.flatMap((alarm) => alarm.watched)
    expect(counted.filter((each) => watched.some((metric) => isEmitted([each], metric)))).not.toEqual([])
  })

  it('watch only emitted metrics', () => {
    const emitted = metrics.emitted()
    const ofOurs = alarms.flatMap(({ watched }) => watched.filter(({ namespace }) => namespace === NAMESPACE))
    const missing = ofOurs.filter((metric) => !isEmitted(emitted, metric))
    expect(missing).toEqual([])
  })
})

describe('emitted metrics', () => {
  it('have no dimension for a tenant, a key, a request or a job', () => {
    const names = new Set(metrics.emitted().flatMap(({ dimensions }) => Object.keys(dimensions)))
    expect([...names].toSorted()).toEqual(['channel', 'service'])
  })

  it('exist once, for the whole service or for a channel', () => {
    const failed = metrics.emitted().filter(({ name }) => name === 'jobs_failed')
    expect(failed[0]?.dimensions).toEqual({ service: POWERTOOLS_SERVICE_NAME })
    expect(new Set(failed.map(({ dimensions }) => JSON.stringify(dimensions))).size).toBe(1)
  })
})

describe('faults in AWS metrics', () => {
  const nobody = { tenantId: 'nobody', jobId: 'nothing' }

  it('make Settle, Fail and Notify throw, which Lambda counts as errors', async () => {
    const { context } = await stage.engines.pipeline()
    const openUrlSigner = () => Promise.reject(new Error('not asked'))
    await expect(settleVideoJob(nobody, context)).rejects.toThrow('no record')
    await expect(failVideoJob(nobody, context)).rejects.toThrow('no record')
    await expect(sendJobCallback(nobody, { ...context, openUrlSigner })).rejects.toThrow('no record')
  })

  it('make Reconcile throw if the table is unavailable', async () => {
    const { context } = await stage.engines.pipeline()
    const table = tableWithClient({ ...context.table, name: 'no-such-table' })
    await expect(reconcile({ ...context, table }, { all: false })).rejects.toThrow()
  })

  it('end an execution as failed if Fail fails', async () => {
    const pipeline = await stage.engines.pipeline()
    const broken = () => Promise.reject(new Error('broken'))
    const machine = createVideoMachine(pipeline, { interpose: { Submit: broken, Fail: broken } })
    expect((await machine.run(await pipeline.create())).status).toBe('FAILED')
  })
})
