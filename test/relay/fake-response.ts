import type { ClientResponse, ResponseHead } from '#lambdas/relay/client-response.ts'

/** An answer as a client gets it. */
export class FakeResponse implements ClientResponse {
  head: ResponseHead | undefined
  text = ''
  ends = 0
  /** Resolves when a client that is behind has caught up; undefined for one that never is. */
  room: Promise<void> | undefined
  readonly leaving = new AbortController()
  readonly gone = this.leaving.signal

  get isOpen(): boolean {
    return this.head !== undefined
  }

  open(head: ResponseHead): void {
    if (this.head !== undefined) {
      throw new TypeError('opened twice')
    }
    this.head = head
  }

  write(chunk: Buffer | string): boolean {
    if (this.head === undefined || this.ends > 0) {
      throw new TypeError('written before it was open, or after its end')
    }
    this.text += chunk.toString()
    return this.room === undefined
  }

  async drained(): Promise<void> {
    await this.room
  }

  end(): void {
    this.ends += 1
  }
}
