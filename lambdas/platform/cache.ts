/** Creates a value at the first call and keeps it, so that an instance creates only the clients that it uses. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What a warm instance keeps of the values it used last: at most so many, so that it never grows without end. */
export class RecentValues<Value> {
  readonly #sizeMax: number
  /** The one that was used longest ago comes first. */
  readonly #values = new Map<string, Value>()
  /** The key that comes last: finding its value again needs no write. */
  #newest: string | undefined

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key)
    if (value !== undefined && key !== this.#newest) {
      this.set(key, value)
    }
    return value
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    this.#newest = key
    if (this.#values.size > this.#sizeMax) {
      const [oldest = key] = this.#values.keys()
      this.#values.delete(oldest)
    }
  }

  values(): Iterable<Value> {
    return this.#values.values()
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}
