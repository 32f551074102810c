import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { readVideoResult } from '#lambdas/pipeline/step-context.ts'
import { systemClock } from '#platform/clock.ts'
import { logger } from '#platform/telemetry/logger.ts'
import type { Table } from '#store/table/table.ts'
import { captureTelemetry } from './emitted-metrics.ts'
import { createPipeline, inTurn, type Pipeline, succeeded } from './pipeline.ts'
import { startTestBucket } from './test-bucket.ts'
import { testCatalogue } from './test-catalogue.ts'
import { startResultServer } from './test-servers.ts'
import { startTestTable } from './test-table.ts'
import { createVideoMachine, startExecutions, type VideoMachine } from './video-machine.ts'

type PipelineChanges = {
  readonly config?: Partial<GatewayConfig>
  readonly channels?: Parameters<typeof testCatalogue>[1]
  readonly credits?: string
}

/** Everything a test of the pipeline needs, once per test file; `pipeline` gives each test a table of its own. */
export async function startEngines(routes: Parameters<typeof startResultServer>[0] = {}) {
  const telemetry = captureTelemetry()
  const [tables, bucket, results] = await Promise.all([startTestTable(), startTestBucket(), startResultServer(routes)])
  const pipeline = async ({ config, channels, credits }: PipelineChanges = {}): Promise<Pipeline> => {
    const catalogue = testCatalogue({ trusted_origins: [results.origin], ...config }, channels)
    const options = { table: await tables.fresh(), bucket: bucket.bucket, catalogue }
    return await createPipeline(credits === undefined ? options : { ...options, credits })
  }
  const close = async () => {
    await Promise.all([tables.close(), bucket.close(), results.stop()])
  }
  return { ...telemetry, bucket, results, tables, pipeline, close }
}

export type Engines = Awaited<ReturnType<typeof startEngines>>

/**
 * The engines of a test about lost and broken executions, once per test file: Reconcile and the admin commands start and find
 * executions through the environment.
 */
export async function startRecovery() {
  const engines = await startEngines()
  const executions = await startExecutions()
  return {
    engines,
    executions,
    /** A pipeline whose upstream succeeds with a video of three seconds: 0.42 credits. */
    openPipeline: async (changes: Parameters<Engines['pipeline']>[0] = {}): Promise<Pipeline> => {
      engines.reset()
      const pipeline = await engines.pipeline(changes)
      pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
      return pipeline
    },
    /** Makes the machine that executions are started on from now on. */
    useMachine: (pipeline: Pipeline, options: Parameters<typeof createVideoMachine>[1] = {}): VideoMachine => {
      const machine = createVideoMachine(pipeline, options)
      executions.use(machine)
      return machine
    },
    /** One run of Reconcile after a number of seconds. */
    reconcileAfter: async (pipeline: Pipeline, seconds: number, { all = false } = {}): Promise<void> => {
      pipeline.clock.advance(seconds)
      await reconcile(pipeline.context, { all })
    },
    close: async (): Promise<void> => {
      await Promise.all([engines.close(), executions.close()])
    },
  }
}

/** The engines of one test file. */
export type Recovery = Awaited<ReturnType<typeof startRecovery>>

/** Longer than Reconcile leaves the hold of a process that no longer renews it. */
const LAPSED_MILLISECONDS = 17 * 60_000

/** One run of Reconcile over a table without video jobs. @param isLast all processes ended long ago. */
export async function reconcileRequests(table: Table, catalogue: Catalogue, { isLast = false } = {}): Promise<void> {
  // What the runs log and count is no part of the findings.
  logger.setLogLevel('SILENT')
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  const unused = () => Promise.reject(new TypeError('the traffic has no videos'))
  const nowMilliseconds = () => Date.now() + (isLast ? LAPSED_MILLISECONDS : 0)
  const context = {
    ...systemClock,
    nowMilliseconds,
    random: Math.random,
    table,
    catalogue,
    openBucket: () => {
      throw new TypeError('the traffic has no videos')
    },
    openAccount: unused,
    readResult: readVideoResult,
  }
  await reconcile(context, { all: false })
}
