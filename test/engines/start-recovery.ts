import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import type { Pipeline } from './create-pipeline.ts'
import { createVideoMachine, type VideoMachine } from './run-video-machine.ts'
import { inTurn, succeeded } from './scripted-upstream.ts'
import { type Engines, startEngines } from './start-engines.ts'
import { startExecutions } from './start-executions.ts'

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
