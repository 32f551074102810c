/** What was asked of AWS, by the names of its operations, and the table units that this consumed. */
export type Cost = {
  readonly requests: Readonly<Record<string, number>>
  readonly readUnits: number
  readonly writeUnits: number
}

type Sums = { readonly requests: Map<string, number>; readUnits: number; writeUnits: number }

/** Adds up requests and units until they are taken. */
export class CostMeter {
  #sums: Sums = emptySums()

  addRequest(operation: string): void {
    this.#sums.requests.set(operation, (this.#sums.requests.get(operation) ?? 0) + 1)
  }

  addUnits({ readUnits = 0, writeUnits = 0 }: Partial<Pick<Cost, 'readUnits' | 'writeUnits'>>): void {
    this.#sums.readUnits += readUnits
    this.#sums.writeUnits += writeUnits
  }

  add({ requests, ...units }: Cost): void {
    for (const [operation, count] of Object.entries(requests)) {
      this.#sums.requests.set(operation, (this.#sums.requests.get(operation) ?? 0) + count)
    }
    this.addUnits(units)
  }

  /** What was added since the last time. */
  take(): Cost {
    const { requests, ...units } = this.#sums
    this.#sums = emptySums()
    const sorted = [...requests].sort(([left], [right]) => left.localeCompare(right))
    return { requests: Object.fromEntries(sorted), ...units }
  }

  /** What happens meanwhile, metered apart from what it happens in. */
  async apart(run: () => Promise<unknown>): Promise<Cost> {
    const around = this.#sums
    this.#sums = emptySums()
    try {
      await run()
      return this.take()
    } finally {
      this.#sums = around
    }
  }
}

function emptySums(): Sums {
  return { requests: new Map(), readUnits: 0, writeUnits: 0 }
}
