import { CurrentCatalogue } from '#adapters/config/current-catalogue.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { SubmitContext } from '#lambdas/pipeline/submit-video-job/submit-context.ts'
import { changeSwitch } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import type { Scheduler } from './scheduler.ts'

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
    const act = () => changeSwitch(table, change, { actor: OPERATOR, at: scheduler.nowMilliseconds() })
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
