type Listener = () => void

/** What code that waits needs of an `AbortSignal`. */
export interface AbortNotice {
  readonly aborted: boolean
  /** Calls the listener once, when the notice fires; never for a notice that has fired. */
  addEventListener(type: 'abort', listener: Listener, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: Listener): void
}

/**
 * An `AbortController` and its signal in one, for the process alone. Each relayed request has two with some listeners each, and Node's own
 * cost several percent of the CPU of a request.
 */
export class Abort implements AbortNotice {
  #aborted = false
  readonly #listeners = new Set<Listener>()

  get aborted(): boolean {
    return this.#aborted
  }

  /** Fires the notice; does nothing the second time. */
  abort(): void {
    if (this.#aborted) {
      return
    }
    this.#aborted = true
    for (const listener of this.#listeners) {
      listener()
    }
    this.#listeners.clear()
  }

  addEventListener(_type: 'abort', listener: Listener, _options?: { readonly once: true }): void {
    if (!this.#aborted) {
      this.#listeners.add(listener)
    }
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    this.#listeners.delete(listener)
  }
}
