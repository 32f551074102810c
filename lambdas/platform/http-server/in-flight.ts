/** Handle of a tracked value, for {@link InFlight.remove}. */
export class Place<Value> {
  readonly value: Value
  /** Undefined once the value has left. */
  previous: Place<Value> | undefined
  next: Place<Value> | undefined

  constructor(value: Value) {
    this.value = value
  }
}

/**
 * Values that come and go with requests, oldest first.
 *
 * A `Set` that lives as long as the process makes garbage collection expensive here. V8 replaces the table of a `Set` after some additions
 * and links the old table to the new one. Once one table has become old garbage, it keeps all its successors alive, with every request that
 * they name, until the next major collection (docs/decisions/0121). A place that has left links to nothing.
 */
export class InFlight<Value> implements Iterable<Place<Value>> {
  #oldest: Place<Value> | undefined
  #newest: Place<Value> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get oldest(): Place<Value> | undefined {
    return this.#oldest
  }

  add(value: Value): Place<Value> {
    const place = new Place(value)
    if (this.#newest === undefined) {
      this.#oldest = place
    } else {
      place.previous = this.#newest
      this.#newest.next = place
    }
    this.#newest = place
    this.#size += 1
    return place
  }

  /** @returns false if the value has left before. */
  remove(place: Place<Value>): boolean {
    const { previous, next } = place
    if (previous === undefined && this.#oldest !== place) {
      return false
    }
    if (previous === undefined) {
      this.#oldest = next
    } else {
      previous.next = next
    }
    if (next === undefined) {
      this.#newest = previous
    } else {
      next.previous = previous
    }
    place.previous = undefined
    place.next = undefined
    this.#size -= 1
    return true
  }

  /** The places at the time of the call: values that leave or come meanwhile make no difference. */
  [Symbol.iterator](): Iterator<Place<Value>> {
    const places: Place<Value>[] = []
    for (let place = this.#oldest; place !== undefined; place = place.next) {
      places.push(place)
    }
    return places.values()
  }
}

/** Counts work that goes on after a response, so that a shutdown lets it finish. */
export class RunningWork {
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** Counts work until it ends in any way. */
  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#count += 1
    try {
      return await work
    } finally {
      this.#count -= 1
      if (this.#count === 0) {
        for (const resolve of this.#waiting) {
          resolve()
        }
      }
    }
  }

  /** Resolves when nothing runs any more, or after the given time. */
  async settled(millisecondsMax: number): Promise<void> {
    if (this.#count === 0) {
      return
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, millisecondsMax)
      this.#waiting.add(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
