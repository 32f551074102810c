/** A read under way, and the one that begins when it is over, if anyone waits for it. */
type Line<Value> = { readonly running: Promise<void>; next: Promise<Value> | undefined }

/**
 * Lets requests that want the same thing share a read that began after they arrived. A read under way when a request
 * arrives may have seen what was true before, so it does not serve that one: it waits for the next read, together with
 * everyone who came meanwhile.
 */
export class SharedReads<Value> {
  readonly #read: (key: string) => Promise<Value>
  readonly #lines = new Map<string, Line<Value>>()

  constructor(read: (key: string) => Promise<Value>) {
    this.#read = read
  }

  /** Never more than one read of a key at a time. @throws what the read throws. */
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
