import { InFlight, type Place } from './in-flight.ts'

/** The memory for unfinished request bodies. */
export type BodyBounds = {
  readonly bytesMax: number
  /** The interval of checks while the bodies are above the bound. */
  readonly lookMilliseconds: number
}

const BODY_BOUNDS: BodyBounds = { bytesMax: 64 * 1024 * 1024, lookMilliseconds: 250 }

/**
 * A body without progress for this many consecutive checks has stalled. Checks are counted instead of time, because a busy process
 * neither reads nor checks.
 */
const IDLE_LOOKS_MAX = 8

/** The first bytes of a body are always read, so that a small request never waits for large ones. */
const SMALL_BODY_BYTES = 65_536

/** While bodies wait for each other, fewer bytes than this per check do not count as progress. */
const PROGRESS_BYTES = 32_768

/** The sender of a body. */
export type BodySource = {
  pause(): void
  resume(): void
  /** Stops reading: the body came too slowly while others waited. */
  giveUp(): void
}

type Body = { readonly source: BodySource; bytes: number; isPaused: boolean; idleLooks: number; progressBytes: number }

/** One body that is being read. */
export type BodyBeingRead = {
  /** Counts further bytes in memory. */
  add(bytes: number): void
  /** The body has ended in any way; may be called twice. */
  end(): void
}

/**
 * Counts the bytes of all request bodies that are being read. Above the bound, only the oldest body is read and the others wait, so that
 * one after the other completes; stalled bodies are dropped. The small bound does not limit honest clients, whose bodies arrive
 * quickly.
 */
export class BodiesBeingRead {
  readonly #bounds: BodyBounds
  /** Oldest first. */
  readonly #bodies = new InFlight<Body>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: BodyBounds = BODY_BOUNDS) {
    this.#bounds = bounds
  }

  /** Starts to count a body. */
  begin(source: BodySource): BodyBeingRead {
    const place = this.#bodies.add({ source, bytes: 0, isPaused: false, idleLooks: 0, progressBytes: 0 })
    return { add: (bytes) => this.#add(place, bytes), end: () => this.#end(place) }
  }

  #add(place: Place<Body>, bytes: number): void {
    const body = place.value
    body.bytes += bytes
    this.#bytes += bytes
    if (body.bytes - body.progressBytes >= PROGRESS_BYTES) {
      body.progressBytes = body.bytes
      body.idleLooks = 0
    }
    if (this.#bytes <= this.#bounds.bytesMax) {
      return
    }
    const { oldest } = this.#bodies
    if (place !== oldest && body.bytes > SMALL_BODY_BYTES) {
      body.isPaused = true
      body.source.pause()
    }
    this.#timer ??= setInterval(() => this.#look(), this.#bounds.lookMilliseconds).unref()
    // The first bytes of many small bodies alone exceed the bound: there is no time to wait.
    if (this.#bytes > 2 * this.#bounds.bytesMax && oldest !== undefined) {
      this.#giveUp(oldest)
    }
  }

  #end(place: Place<Body>): void {
    if (this.#bodies.remove(place)) {
      this.#bytes -= place.value.bytes
      if (this.#timer !== undefined) {
        this.#readOn()
      }
    }
  }

  /** Once the bound was exceeded: the oldest body always, the others while there is room. */
  #readOn(): void {
    let isOldest = true
    for (const { value: body } of this.#bodies) {
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
    for (const place of this.#bodies) {
      const body = place.value
      body.idleLooks += body.isPaused ? 0 : 1
      if (body.idleLooks >= IDLE_LOOKS_MAX && this.#bytes > this.#bounds.bytesMax) {
        this.#giveUp(place)
      }
    }
  }

  #giveUp(place: Place<Body>): void {
    this.#end(place)
    place.value.source.giveUp()
  }
}
