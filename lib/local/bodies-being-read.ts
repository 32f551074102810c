/** What of unfinished request bodies may be held in memory. */
export type BodyBounds = {
  readonly bytesMax: number
  /** How often the bodies are looked at while they are above the bound. */
  readonly lookMilliseconds: number
}

const BODY_BOUNDS: BodyBounds = { bytesMax: 64 * 1024 * 1024, lookMilliseconds: 250 }

/**
 * A body that has not come on at so many looks in a row is not coming. Looks and no clock, because a process that is busy
 * reads nothing either, and does not look.
 */
const IDLE_LOOKS_MAX = 8

/** The first bytes of a body are always taken, so that a small request never waits for large ones. */
const SMALL_BODY_BYTES = 65_536

/** While bodies wait for each other, less than this is no progress. */
const PROGRESS_BYTES = 32_768

/** Who sends a body, as far as reading goes. */
export type BodySource = {
  pause(): void
  resume(): void
  /** The body is not read on: it came too slowly while others waited. */
  giveUp(): void
}

type Body = { readonly source: BodySource; bytes: number; isPaused: boolean; idleLooks: number; progressBytes: number }

/** One body that is being read. */
export type BodyBeingRead = {
  /** So many bytes more are held. */
  add(bytes: number): void
  /** It has ended, however it did; may be said twice. */
  end(): void
}

/**
 * The bytes of all request bodies that are being read. Above the bound the oldest body is read on and the others wait, so that
 * one after the other comes to its end; those that do not come on are given up. So little of a bound is no
 * limit to honest clients: their bodies arrive in a moment.
 */
export class BodiesBeingRead {
  readonly #bounds: BodyBounds
  /** Oldest first. */
  readonly #bodies = new Set<Body>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: BodyBounds = BODY_BOUNDS) {
    this.#bounds = bounds
  }

  /** Begins to count a body. */
  begin(source: BodySource): BodyBeingRead {
    const body = { source, bytes: 0, isPaused: false, idleLooks: 0, progressBytes: 0 }
    this.#bodies.add(body)
    return { add: (bytes) => this.#add(body, bytes), end: () => this.#end(body) }
  }

  #add(body: Body, bytes: number): void {
    body.bytes += bytes
    this.#bytes += bytes
    if (body.bytes - body.progressBytes >= PROGRESS_BYTES) {
      body.progressBytes = body.bytes
      body.idleLooks = 0
    }
    if (this.#bytes <= this.#bounds.bytesMax) {
      return
    }
    const [oldest] = this.#bodies
    if (body !== oldest && body.bytes > SMALL_BODY_BYTES) {
      body.isPaused = true
      body.source.pause()
    }
    this.#timer ??= setInterval(() => this.#look(), this.#bounds.lookMilliseconds).unref()
    // So many small bodies that their first bytes are too much: no time is left to wait for any.
    if (this.#bytes > 2 * this.#bounds.bytesMax && oldest !== undefined) {
      this.#giveUp(oldest)
    }
  }

  #end(body: Body): void {
    if (this.#bodies.delete(body)) {
      this.#bytes -= body.bytes
      this.#readOn()
    }
  }

  /** The oldest always; the others while there is room. */
  #readOn(): void {
    let isOldest = true
    for (const body of this.#bodies) {
      if (body.isPaused && (isOldest || this.#bytes <= this.#bounds.bytesMax)) {
        body.isPaused = false
        body.idleLooks = 0
        body.source.resume()
      }
      isOldest = false
    }
    if (this.#bytes <= this.#bounds.bytesMax) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #look(): void {
    for (const body of this.#bodies) {
      body.idleLooks += body.isPaused ? 0 : 1
      if (body.idleLooks >= IDLE_LOOKS_MAX && this.#bytes > this.#bounds.bytesMax) {
        this.#giveUp(body)
      }
    }
  }

  #giveUp(body: Body): void {
    this.#end(body)
    body.source.giveUp()
  }
}
