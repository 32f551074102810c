type Listener = () => void

/** What code that waits needs of an `AbortSignal`. */
export interface AbortNotice {
  readonly aborted: boolean
  /** Calls the listener once, when the notice fires; never for a notice that has fired. */
  addEventListener(type: 'abort', listener: Listener, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: Listener): void
}

const NONE: readonly Listener[] = []

/**
 * An `AbortController` and its signal in one, for the process alone. Each relayed request has two with some listeners each, and Node's own
 * cost several percent of the CPU of a request.
 */
export class Abort implements AbortNotice {
  #aborted = false
  /** Replaced with each change: a `Set` costs more than a new array of one or two. */
  #listeners: readonly Listener[] = NONE

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
      // An earlier listener may have removed it.
      if (this.#listeners.includes(listener)) {
        listener()
      }
    }
    this.#listeners = NONE
  }

  addEventListener(_type: 'abort', listener: Listener, _options?: { readonly once: true }): void {
    if (!(this.#aborted || this.#listeners.includes(listener))) {
      this.#listeners = [...this.#listeners, listener]
    }
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    this.#listeners = this.#listeners.filter((each) => each !== listener)
  }
}
