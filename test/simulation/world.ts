import { S3Client } from '@aws-sdk/client-s3'
import { v7 as uuidv7 } from 'uuid'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { StepInput } from '#core/jobs/video-job.ts'
import type { CreateContext } from '#lambdas/api/create-video-job/create-context.ts'
import { checkReferences } from '#lambdas/pipeline/check-references/check-references.ts'
import { failVideoJob } from '#lambdas/pipeline/fail-video-job.ts'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { pollVideoJob } from '#lambdas/pipeline/poll-video-job/poll-video-job.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { reconcileJob } from '#lambdas/pipeline/reconcile/reconcile-job.ts'
import { settleVideoJob } from '#lambdas/pipeline/settle-video-job.ts'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import type { SubmitContext } from '#lambdas/pipeline/submit-video-job/submit-context.ts'
import { submitVideoJob } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { readResult } from '../engines/scripted-upstream.ts'
import type { TableWithClient } from '../engines/table-with-client.ts'
import { unswitched } from '../engines/unswitched.ts'
import { ChannelSwitching, type Switching } from './channel-switching.ts'
import { Faults } from './faults.ts'
import type { Guard } from './guards.ts'
import { Scheduler } from './scheduler.ts'
import { drawCatalogue } from './simulated-catalogue.ts'
import { SimulatedExecutions } from './simulated-executions.ts'
import { SimulatedNetwork } from './simulated-network.ts'
import { useServices } from './simulated-services.ts'
import { SimulatedTable } from './simulated-table.ts'
import { SimulatedUpstream } from './simulated-upstream.ts'
import { Storms } from './storms.ts'
import { useTimersOf } from './virtual-timers.ts'

export type WorldOptions = {
  readonly seed: number
  /** An empty table of the real engine. */
  readonly table: TableWithClient
  readonly missing: readonly Guard[]
  /** The EventBridge rule, Catch and Notify are off: Reconcile is all that is left. */
  readonly reconcileAlone: boolean
  /** Requests are relayed beside the jobs, the table has outages, and transactions arrive late. */
  readonly relaysRequests: boolean
  /** Whether operators switch channels, and whether instances see it. */
  readonly switching: Switching
  /** At the end, each guard of a resolution is tried alone. */
  readonly probesGuards: boolean
}

/** Histories begin at one moment, whenever they are run; those with relayed requests shortly before a day and a month end. */
const START_MILLISECONDS = { ofJobs: Date.UTC(2026, 0, 1), ofBoth: Date.UTC(2026, 0, 31, 23, 50) }

/** One deployment with everything around it, under one scheduler. */
export class World {
  readonly scheduler: Scheduler
  readonly faults: Faults
  /** Undefined in a history without relayed requests. */
  readonly storms: Storms | undefined
  /** Undefined in a history without switches. */
  readonly switching: ChannelSwitching | undefined
  readonly table: SimulatedTable
  readonly upstream: SimulatedUpstream
  readonly outside: SimulatedNetwork
  readonly executions: SimulatedExecutions
  readonly objects = new Map<string, string>()
  /** Ids of the alerts that reached the operators' topic. */
  readonly published: string[] = []
  #catalogue: Catalogue
  readonly #bucket = { client: new S3Client({}), name: 'bucket' }

  constructor({ seed, table, missing, reconcileAlone, relaysRequests, switching }: WorldOptions) {
    this.scheduler = new Scheduler(seed, relaysRequests ? START_MILLISECONDS.ofBoth : START_MILLISECONDS.ofJobs)
    const { scheduler } = this
    this.faults = new Faults(scheduler)
    const { faults } = this
    this.storms = relaysRequests ? new Storms({ scheduler, seed }) : undefined
    this.table = new SimulatedTable(table, { scheduler, faults, storms: this.storms, missing })
    this.switching =
      switching === 'never' ? undefined : new ChannelSwitching({ scheduler, seed, switching, table: this.table.table })
    this.upstream = new SimulatedUpstream(scheduler, faults)
    this.outside = new SimulatedNetwork(scheduler, faults)
    this.#catalogue = drawCatalogue(scheduler)
    this.executions = new SimulatedExecutions({
      scheduler,
      tasks: this.#tasks(),
      isCatchOff: reconcileAlone,
      isNotifyOff: reconcileAlone,
      onBroken: (input) => {
        if (!reconcileAlone) {
          this.#reportBroken(input)
        }
      },
    })
    useServices({ faults, executions: this.executions, objects: this.objects })
    useTimersOf(scheduler)
  }

  /** The deployment's present context; a deployment that follows does not reach what runs. */
  context(): SubmitContext & CreateContext {
    const { scheduler } = this
    const randomBytes = (length: number) => Uint8Array.from({ length }, () => Math.floor(scheduler.random() * 256))
    return {
      table: this.table.table,
      openBucket: () => this.#bucket,
      catalogue: this.#catalogue,
      currentCatalogue: unswitched(this.#catalogue),
      nowMilliseconds: scheduler.nowMilliseconds,
      pause: scheduler.pause,
      random: scheduler.random,
      openProvider: async (channel) => this.upstream.open(channel),
      readResult: (_channel, text) => readResult(text),
      network: this.outside.network,
      newJobId: () => uuidv7({ msecs: scheduler.nowMilliseconds(), random: randomBytes(16) }),
      randomHex: (bytes) => Buffer.from(randomBytes(bytes)).toString('hex'),
    }
  }

  /** Another configuration, for everything that begins from now on. */
  deploy(): void {
    this.#catalogue = drawCatalogue(this.scheduler)
  }

  /** One run of the schedule. */
  reconcile(): void {
    const context = { ...this.context(), publishToOperators: this.#publish }
    const run = () => this.scheduler.invoke(() => reconcile(context, { all: false }))
    this.scheduler.spawn(() => run().catch(() => {}))
  }

  readonly #publish = ({ id }: { readonly id: string }) =>
    this.faults.pass('publish', async () => {
      this.published.push(id)
    })

  /** The event of a broken execution: late, lost, or twice. */
  #reportBroken(input: StepInput): void {
    const times = Math.floor(this.scheduler.random() * 3)
    for (let time = 0; time < times; time += 1) {
      const run = () => this.scheduler.invoke(() => reconcileJob(input, this.context()))
      this.scheduler.spawn(() => run().catch(() => {}))
    }
  }

  /** Runs a function with the switches that its instance knows. */
  #inInstance<Result>(body: (context: SubmitContext) => Promise<Result>): Promise<Result> {
    const context = this.context()
    return this.switching === undefined
      ? body(context)
      : this.switching.inInstance(this.#catalogue, (currentCatalogue) => body({ ...context, currentCatalogue }))
  }

  #tasks(): ConstructorParameters<typeof SimulatedExecutions>[0]['tasks'] {
    const invoke =
      <Event, Result>(body: (event: Event, context: SubmitContext) => Promise<Result>) =>
      (event: Event) => {
        const run = () => this.scheduler.invoke(() => this.#inInstance((context) => body(event, context)))
        if (this.faults.draw('doubled') !== undefined) {
          this.scheduler.spawn(() =>
            run().then(
              () => {},
              () => {},
            ),
          )
        }
        return run()
      }
    return {
      Submit: invoke((event: StepInput, context) => submitVideoJob(event, context)),
      CheckReferences: invoke((event: StepInput, context) => checkReferences(event, context)),
      Poll: invoke((event: StepInput, context) => pollVideoJob(event, context)),
      Store: invoke((event: StepInput, context) => storeVideo(event, context)),
      Settle: invoke((event: StepInput, context) => settleVideoJob(event, context)),
      Fail: invoke((event: StepInput, context) => failVideoJob(event, context)),
      Notify: invoke(async (input: StepInput, context) => {
        await sendJobCallback(input, { ...context, openUrlSigner })
      }),
    }
  }
}

async function openUrlSigner() {
  return ({ videoKey }: { videoKey: string }) => `https://cdn.example/${videoKey}?signed`
}
