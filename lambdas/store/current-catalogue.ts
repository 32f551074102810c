import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { readSwitches } from './switches.ts'
import type { Table } from './table/table.ts'

/** A switch is seen everywhere this long after it was set, because no instance uses older switches. */
export const SWITCHES_MILLISECONDS_MAX = 15_000

/** A read may take so long that its result is too old already. A second one that does means that the table is out of reach. */
const READS_MAX = 2

type Kept = { readonly catalogue: Catalogue; readonly version: number; readonly readAt: number }

type CurrentCatalogueOptions = {
  readonly table: Pick<Table, 'readItem'>
  /** The configuration of the deployment, without switches. */
  readonly catalogue: Catalogue
  readonly clock?: Pick<Clock, 'nowMilliseconds'>
}

/**
 * The catalogue under the switches of operators, which are read again when they are older than {@link SWITCHES_MILLISECONDS_MAX}: at
 * most one read at a time for a process. Without the table there is no catalogue: the request could reserve nothing anyway, and a
 * disabled channel must not get work because a read failed.
 */
export class CurrentCatalogue {
  readonly #options: CurrentCatalogueOptions
  readonly #clock: Pick<Clock, 'nowMilliseconds'>
  #kept: Kept | undefined
  #reading: Promise<void> | undefined

  constructor(options: CurrentCatalogueOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /**
   * The catalogue of this moment, from memory or after a read.
   * @throws ServiceUnavailableError when the table stays out of reach.
   */
  async read(): Promise<Catalogue> {
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const fresh = this.#fresh()
      if (fresh !== undefined) {
        return fresh
      }
      await this.#refresh()
    }
    const fresh = this.#fresh()
    if (fresh === undefined) {
      throw new ServiceUnavailableError()
    }
    return fresh
  }

  /**
   * Runs another read, and beside it the read of the switches if they are too old, so that the second one costs no time. Both have
   * ended afterwards: a request that goes on in a frozen function would be lost.
   * @throws what the other read throws, or else the error of the read of the switches.
   */
  async readBeside<Value>(other: () => Promise<Value>): Promise<Value> {
    if (this.#fresh() !== undefined) {
      return await other()
    }
    const [value, switches] = await Promise.allSettled([other(), this.read()])
    if (value.status === 'rejected') {
      throw value.reason
    }
    if (switches.status === 'rejected') {
      throw switches.reason
    }
    return value.value
  }

  /** The age counts from the begin of the read. Switches from the future were read before the clock was set back. */
  #fresh(): Catalogue | undefined {
    const age = this.#clock.nowMilliseconds() - (this.#kept?.readAt ?? 0)
    return age >= 0 && age < SWITCHES_MILLISECONDS_MAX ? this.#kept?.catalogue : undefined
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const readAt = this.#clock.nowMilliseconds()
    const { switches, version } = await readSwitches(this.#options.table)
    const { config } = this.#options.catalogue
    const catalogue = this.#kept?.version === version ? this.#kept.catalogue : createCatalogue(config, switches)
    this.#kept = { catalogue, version, readAt }
  }
}
