import { ServiceUnavailableError } from '#core/errors.ts'
import type { Clock } from '../../clock.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { composeGroup, groupSize, type Order } from './group-transaction.ts'
import { isolate, judgeGroup, type Verdict } from './judge-group.ts'

type WriterOptions = {
  readonly table: Table
  readonly tenantId: string
  readonly nowMilliseconds: Clock['nowMilliseconds']
  readonly onIdle: () => void
}

type Waiting = { readonly order: Order; readonly resolve: () => void; readonly reject: (error: unknown) => void }

/**
 * A resolution that finds no transaction under way waits this long for a reservation to share one with. No client waits for it,
 * and a client that sends one request after the other sends its next one sooner, so that its transactions are halved
 * (docs/performance.md). A function runs this much longer, after its response.
 */
const RESOLUTION_DELAY_MILLISECONDS = 2

/**
 * The one writer of a tenant's money in a process: one transaction at a time, so that no two of them meet at the balance.
 * Orders that arrive meanwhile wait and share the next transaction, in the order in which they came.
 */
export class TenantWriter {
  readonly #table: Table
  readonly #tenantId: string
  readonly #nowMilliseconds: Clock['nowMilliseconds']
  readonly #onIdle: () => void
  readonly #waiting: Waiting[] = []
  #isWriting = false
  #delay: NodeJS.Timeout | undefined

  /** @param options.onIdle called when no order waits any more; the next one may have a new writer. */
  constructor({ table, tenantId, nowMilliseconds, onIdle }: WriterOptions) {
    this.#table = table
    this.#tenantId = tenantId
    this.#nowMilliseconds = nowMilliseconds
    this.#onIdle = onIdle
  }

  /**
   * Resolves when the order is written.
   * @throws InvalidApiKeyError, InsufficientQuotaError for a reservation.
   * @throws ConditionsNotMetError for an order that its own items refused: the reservation exists, or is resolved.
   * @throws ServiceUnavailableError when the table stayed out of reach; what was written is then unknown.
   */
  write(order: Order): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ order, resolve, reject })
      this.#startFor(order)
    })
  }

  #startFor({ kind }: Order): void {
    if (this.#isWriting) {
      return
    }
    if (kind === 'resolve') {
      this.#delay ??= setTimeout(() => this.#start(), RESOLUTION_DELAY_MILLISECONDS)
      return
    }
    this.#isWriting = true
    clearTimeout(this.#delay)
    // Requests that arrive in the same turn of the event loop are read before this runs.
    setImmediate(() => this.#start())
  }

  #start(): void {
    this.#isWriting = true
    this.#delay = undefined
    void this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const size = groupSize(this.#waiting.map(({ order }) => order))
      await this.#writeGroup(this.#waiting.splice(0, size))
    }
    this.#isWriting = false
    this.#onIdle()
  }

  /** Writes one group, in several transactions where one does not work for all. Never rejects. */
  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const open = new Map(group.map((waiting) => [waiting.order, waiting]))
    const left: (readonly Order[])[] = [[...open.keys()]]
    try {
      for (let orders = left.shift(); orders !== undefined; orders = left.shift()) {
        const { written, refused, groups } = await this.#tryOrders(orders)
        for (const order of written) {
          open.get(order)?.resolve()
          open.delete(order)
        }
        for (const [order, error] of refused) {
          open.get(order)?.reject(error)
          open.delete(order)
        }
        left.unshift(...groups)
      }
    } catch (error) {
      // Orders that arrived meanwhile waited for the same table, so none has to wait through the same tries again.
      for (const { reject } of [...open.values(), ...this.#waiting.splice(0)]) {
        reject(error)
      }
    }
  }

  /** @throws ServiceUnavailableError */
  async #tryOrders(orders: readonly Order[]): Promise<Verdict & { readonly written: readonly Order[] }> {
    const writes = composeGroup(this.#tenantId, orders, Math.trunc(this.#nowMilliseconds() / 1000))
    try {
      await this.#table.transact(writes)
      return { written: orders, refused: new Map(), groups: [] }
    } catch (error) {
      if (error instanceof ServiceUnavailableError) {
        throw error
      }
      const verdict = error instanceof ConditionsNotMetError ? judgeGroup(orders, error) : isolate(orders, error)
      return { written: [], ...verdict }
    }
  }
}
