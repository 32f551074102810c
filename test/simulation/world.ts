import { S3Client } from '@aws-sdk/client-s3'
import { v7 as uuidv7 } from 'uuid'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { StepInput } from '#core/jobs/video-job.ts'
import type { CreateContext } from '#lambdas/api/create-video-job/create-video-job.ts'
import { checkReferences } from '#lambdas/pipeline/check-references/check-references.ts'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { pollVideoJob } from '#lambdas/pipeline/poll-video-job/poll-video-job.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { reconcileJob } from '#lambdas/pipeline/reconcile/reconcile-job.ts'
import { failVideoJob, settleVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import { type SubmitContext, submitVideoJob } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { changeSwitchesTogether } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import { readResult } from '../engines/pipeline.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { testCatalogue, unswitched } from '../engines/test-catalogue.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { Faults, pick, Storms } from './faults.ts'
import type { Guard } from './guards.ts'
import { Scheduler, useTimersOf } from './scheduler.ts'
import { SimulatedNetwork, SimulatedUpstream } from './simulated-network.ts'
import { SimulatedExecutions, useServices } from './simulated-services.ts'
import { SimulatedTable } from './simulated-table.ts'

/** `forgotten`: instances read the switches once and never again, which the rules must notice. */
export type Switching = 'never' | 'seen' | 'forgotten'

/** How often an operator switches, and how often a function runs in an instance that ran before. */
const SWITCH_CHANCE = 0.05
const WARM_CHANCE = 0.8

/** Channels of every configuration of the simulation; a switch may outlive its channel. */
const CHANNELS = ['main', 'spare', 'other']
const OPERATOR = { name: 'operator', role: 'operator' } as const

type Instance = { readonly configured: Catalogue; readonly currentCatalogue: SubmitContext['currentCatalogue'] }
type Options = {
  readonly scheduler: Scheduler
  readonly seed: number
  readonly switching: Exclude<Switching, 'never'>
  readonly table: Table
}

/** Operators who switch channels, and the instances that see it. All draws are their own. */
export class ChannelSwitching {
  readonly #options: Options
  readonly #random: () => number
  readonly #idle = new Set<Instance>()

  constructor(options: Options) {
    this.#options = options
    this.#random = seededRandom(options.seed)
  }

  /** Now and then: a switch, which a fault may befall. */
  mayAct(): void {
    if (this.#random() >= SWITCH_CHANCE) {
      return
    }
    const { scheduler, table } = this.#options
    const id = this.#pick(CHANNELS)
    // Ends a disablement more often than it disables, so that jobs get through.
    const action = this.#pick(['disable', 'disable', 'enable', 'enable', 'clear'] as const)
    const change = { kind: 'channel', id, action } as const
    const act = () => changeSwitchesTogether(table, [change], { actor: OPERATOR, at: scheduler.nowMilliseconds() })
    scheduler.spawn(() =>
      scheduler.invoke(act).then(
        () => {},
        () => {},
      ),
    )
  }

  /** Runs a function in an instance, whose memory is there for the next run unless this one crashes. */
  async inInstance<Result>(
    configured: Catalogue,
    body: (current: SubmitContext['currentCatalogue']) => Promise<Result>,
  ): Promise<Result> {
    const instance = this.#take(configured)
    try {
      return await body(instance.currentCatalogue)
    } finally {
      this.#idle.add(instance)
    }
  }

  #take(configured: Catalogue): Instance {
    const warm = [...this.#idle].filter((instance) => instance.configured === configured)
    const instance = warm.length > 0 && this.#random() < WARM_CHANCE ? this.#pick(warm) : this.#start(configured)
    this.#idle.delete(instance)
    return instance
  }

  #start(configured: Catalogue): Instance {
    const { scheduler, table, switching } = this.#options
    const clock = switching === 'seen' ? scheduler : { nowMilliseconds: () => 0 }
    return { configured, currentCatalogue: new CurrentCatalogue({ table, catalogue: configured, clock }) }
  }

  #pick<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(this.#random() * values.length)]
    if (value === undefined) {
      throw new RangeError('there is nothing to pick')
    }
    return value
  }
}

export const CALLBACK_HOST = 'hooks.example'

type Channels = Parameters<typeof testCatalogue>[1]

/** Deployments that may follow one another while jobs run. */
const CATALOGUE_CHANNELS: readonly Channels[] = [
  { main: { max_open_jobs: 2 }, spare: { max_open_jobs: 2 } },
  { main: { max_open_jobs: 5 }, spare: { max_open_jobs: 5 } },
  { main: { max_open_jobs: 1 }, spare: { max_open_jobs: 1 } },
  // The channel that jobs may be running on leaves the configuration.
  { main: { id: 'other', max_open_jobs: 2 }, spare: { max_open_jobs: 1 } },
  { main: { max_open_jobs: 2, deadline_minutes: 3 }, spare: { deadline_minutes: 3 } },
]
const ALLOWLISTS = [[CALLBACK_HOST], [CALLBACK_HOST], [CALLBACK_HOST], [CALLBACK_HOST], []]
const PRICES = ['0.14', '0.14', '0.20', '0.01']

/** The catalogue of one deployment. */
export function drawCatalogue(scheduler: Scheduler): Catalogue {
  const price = pick(scheduler, PRICES)
  const { config } = testCatalogue()
  return testCatalogue(
    {
      submit_wait_seconds: 10,
      queue_minutes: 20,
      callback_allowlist: pick(scheduler, ALLOWLISTS),
      models: config.models.map((model) => {
        if (model.kind !== 'video' || model.billing !== 'per_second') {
          return model
        }
        return { ...model, prices: model.prices.map((row) => ({ ...row, price })) }
      }),
    },
    pick(scheduler, CATALOGUE_CHANNELS),
  )
}

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
      openAccount: async (channel) => this.upstream.open(channel),
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
