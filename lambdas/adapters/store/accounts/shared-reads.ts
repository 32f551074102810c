/** A read under way, and the read that begins when it ends, if anything waits for one. */
type Line<Value> = { readonly running: Promise<void>; next: Promise<Value> | undefined }

/**
 * Lets requests for the same thing share a read that begins after they arrive. A read already under way may have seen an older
 * state, so a request that arrives during it waits for the next read, together with all that arrive meanwhile.
 */
export class SharedReads<Value> {
  readonly #read: (key: string) => Promise<Value>
  readonly #lines = new Map<string, Line<Value>>()

  constructor(read: (key: string) => Promise<Value>) {
    this.#read = read
  }

  /** Reads each key at most once at a time. @throws what the read throws. */
  read(key: string): Promise<Value> {
    const line = this.#lines.get(key)
    if (line === undefined) {
      return this.#begin(key)
    }
    line.next ??= line.running.then(() => this.#begin(key))
    return line.next
  }

  #begin(key: string): Promise<Value> {
    const value = this.#read(key)
    const line: Line<Value> = { running: value.then(ignore, ignore), next: undefined }
    this.#lines.set(key, line)
    void line.running.then(() => {
      if (line.next === undefined && this.#lines.get(key) === line) {
        this.#lines.delete(key)
      }
    })
    return value
  }
}

function ignore(): void {}
