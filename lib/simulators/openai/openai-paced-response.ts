import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Pause between two slices, so that they travel as packets of their own. */
const SLICE_PAUSE_MILLISECONDS = 2

/** Most slices, so that a long response does not take minutes. */
const CUTS_MAX = 64

/** A response with pauses. Every pause throws as soon as the client has disconnected. */
export class PacedResponse {
  readonly #response: ServerResponse
  readonly #left = new AbortController()
  readonly #startedAt = performance.now()

  constructor(response: ServerResponse) {
    this.#response = response
    response.once('close', () => this.#left.abort())
  }

  async wait(milliseconds: number): Promise<void> {
    if (milliseconds > 0) {
      await sleep(milliseconds, undefined, { signal: this.#left.signal })
    }
  }

  /** Sends the head at once, with the elapsed time. */
  open(status: number, headers: Readonly<Record<string, string | number>>): void {
    const elapsed = Math.max(1, Math.round(performance.now() - this.#startedAt))
    this.#response.writeHead(status, { ...headers, 'openai-processing-ms': elapsed })
    this.#response.flushHeaders()
  }

  /** Resolves when the bytes have left this process. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#response.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Writes in slices that end inside characters and between the two ends of line of an event. */
  async writeSliced(bytes: Buffer): Promise<void> {
    let start = 0
    for (const end of [...cutsOf(bytes), bytes.length]) {
      await this.write(bytes.subarray(start, end))
      await this.wait(SLICE_PAUSE_MILLISECONDS)
      start = end
    }
  }

  end(): void {
    this.#response.end()
  }

  /** Ends the connection without ending the response. */
  cut(): void {
    this.#response.destroy()
  }

  /** Resets the connection. */
  reset(): void {
    this.#response.socket?.resetAndDestroy()
  }
}

/** The positions inside each multi-byte character, in the middle, and before the last byte. */
function cutsOf(bytes: Buffer): readonly number[] {
  const cuts = new Set<number>()
  for (let index = 1; index < bytes.length && cuts.size < CUTS_MAX; index += 1) {
    if (isContinuation(bytes[index]) && !isContinuation(bytes[index - 1])) {
      cuts.add(index)
    }
  }
  cuts.add(bytes.length >> 1)
  cuts.add(bytes.length - 1)
  return [...cuts].filter((cut) => cut > 0).toSorted((a, b) => a - b)
}

/** Continuation bytes of UTF-8 begin with the bits 10. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
