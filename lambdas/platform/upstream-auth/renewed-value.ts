/** A value that ends, as it was made. */
export type Made<Value> = {
  readonly value: Value
  /** Unix time in milliseconds. */
  readonly expiresAt: number
  /** When to begin with the next one. */
  readonly renewAt: number
}

/** After a failure, nothing is made again for this long: many requests may ask for the value. */
const PAUSE_MILLISECONDS = 5_000

/** A value that was refused is replaced at most this often. */
const REPLACEMENT_MILLISECONDS = 10_000

/**
 * A value that is made at its first use, and again before it ends: beside its users, who go on with the one before. It is made once at a
 * time, however many wait for it.
 */
export class RenewedValue<Value> {
  readonly #make: () => Promise<Made<Value>>
  #current: Made<Value> | undefined
  #making: Promise<Made<Value>> | undefined
  #failure: { readonly error: unknown; readonly at: number } | undefined
  #replacedAt = Number.NEGATIVE_INFINITY

  constructor(make: () => Promise<Made<Value>>) {
    this.#make = make
  }

  /** When the value ends, as unix time in milliseconds; undefined without one. */
  get expiresAt(): number | undefined {
    return this.#current?.expiresAt
  }

  /** Why the last try failed; undefined if it did not. */
  get failure(): unknown {
    return this.#failure?.error
  }

  /** A valid value. @throws what making it throws, or threw within the last seconds. */
  async read(): Promise<Value> {
    const current = this.#current
    const now = Date.now()
    if (current === undefined || now >= current.expiresAt) {
      return (await this.#next(now)).value
    }
    if (now >= current.renewAt) {
      this.#next(now).catch(() => undefined)
    }
    return current.value
  }

  /** The value that replaces a refused one; undefined if it was replaced a moment ago already. @throws as {@link read} */
  async replace(refused: Value): Promise<Value | undefined> {
    const now = Date.now()
    if (this.#current !== undefined && this.#current.value !== refused) {
      return this.#current.value
    }
    if (this.#making === undefined && now - this.#replacedAt < REPLACEMENT_MILLISECONDS) {
      return undefined
    }
    this.#replacedAt = now
    return (await this.#next(now)).value
  }

  #next(now: number): Promise<Made<Value>> {
    if (this.#making !== undefined) {
      return this.#making
    }
    if (this.#failure !== undefined && now - this.#failure.at < PAUSE_MILLISECONDS) {
      return Promise.reject(this.#failure.error)
    }
    this.#making = this.#make().then(
      (made) => {
        this.#current = made
        this.#failure = undefined
        this.#making = undefined
        return made
      },
      (error: unknown) => {
        this.#failure = { error, at: Date.now() }
        this.#making = undefined
        throw error
      },
    )
    return this.#making
  }
}
