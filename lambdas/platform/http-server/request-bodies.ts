import type { IncomingMessage } from 'node:http'
import { type GatewayError, INTERNAL_ERROR, REQUEST_TOO_LARGE } from '#core/api/api-gateway.ts'
import { BODY_TOO_LATE, BODY_TOO_SLOW } from './gateway-error.ts'
import { InFlight, type Place } from './in-flight.ts'

/** The memory for unfinished request bodies. */
export type BodyBounds = {
  /** Of one owner: more than one body of the largest size. */
  readonly ownerBytesMax: number
  /** Of all owners. Above it each owner has one large body read at a time; at twice this, the owner with most gives one up. */
  readonly bytesMax: number
  /** How long one body may take in all. */
  readonly bodyMilliseconds: number
  /** The interval of checks while bodies are above a bound. */
  readonly lookMilliseconds: number
}

const BODY_BOUNDS: BodyBounds = {
  ownerBytesMax: 24 * 1024 * 1024,
  bytesMax: 64 * 1024 * 1024,
  bodyMilliseconds: 120_000,
  lookMilliseconds: 250,
}

/**
 * A body without progress for this many consecutive checks has stalled. Checks are counted instead of time, because a busy process
 * neither reads nor checks.
 */
const IDLE_LOOKS_MAX = 8

/** The first bytes of a body are always read, so that a small request never waits for large ones. */
export const SMALL_BODY_BYTES = 65_536

/** While bodies wait for each other, fewer bytes than this per check do not count as progress. */
const PROGRESS_BYTES = 32_768

/** Owners that are remembered without a body. */
const OWNERS_MAX = 1_000

/** The sender of a body. */
export type BodySource = {
  pause(): void
  resume(): void
  /** Stops reading: the body came too slowly, for its time or while others waited. */
  giveUp(reason: 'late' | 'slow'): void
}

type Body = {
  readonly source: BodySource
  readonly owner: Owner
  bytes: number
  isPaused: boolean
  idleLooks: number
  progressBytes: number
}

/** The unfinished bodies of one owner, oldest first. */
type Owner = { readonly name: string; readonly bodies: InFlight<Body>; bytes: number }

/** One body that is being read. */
export type BodyBeingRead = {
  /** Counts further bytes in memory. */
  add(bytes: number): void
  /** The body has ended in any way; may be called twice. */
  end(): void
}

/**
 * Counts the bytes of all request bodies that are being read, by their owners, so that no owner holds up another. Above a bound, only the
 * oldest body of an owner is read and its others wait, so that one after the other completes; stalled bodies are dropped. When all owners
 * together need too much, the one with most gives up its largest body. The bounds do not limit honest clients, whose bodies arrive
 * quickly.
 */
export class BodiesBeingRead {
  readonly #bounds: BodyBounds
  readonly #owners = new Map<string, Owner>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: Partial<BodyBounds> = {}) {
    this.#bounds = { ...BODY_BOUNDS, ...bounds }
  }

  /** Starts to count a body. @param ownerName whose memory it takes. */
  begin(source: BodySource, ownerName: string): BodyBeingRead {
    const owner = this.#ownerOf(ownerName)
    const place = owner.bodies.add({ source, owner, bytes: 0, isPaused: false, idleLooks: 0, progressBytes: 0 })
    const timer = setTimeout(() => this.#giveUp(place, 'late'), this.#bounds.bodyMilliseconds).unref()
    return {
      add: (bytes) => this.#add(place, bytes),
      end: () => {
        clearTimeout(timer)
        this.#end(place)
      },
    }
  }

  /** Owners are forgotten many at a time, because a map that changes with each request is costly (docs/decisions/0121). */
  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name)
    if (known !== undefined) {
      return known
    }
    for (const other of this.#owners.size < OWNERS_MAX ? [] : [...this.#owners.values()]) {
      if (other.bodies.size === 0) {
        this.#owners.delete(other.name)
      }
    }
    const owner = { name, bodies: new InFlight<Body>(), bytes: 0 }
    this.#owners.set(name, owner)
    return owner
  }

  #add(place: Place<Body>, bytes: number): void {
    const body = place.value
    const { owner } = body
    body.bytes += bytes
    owner.bytes += bytes
    this.#bytes += bytes
    if (body.bytes - body.progressBytes >= PROGRESS_BYTES) {
      body.progressBytes = body.bytes
      body.idleLooks = 0
    }
    if (!this.#isCrowded(owner)) {
      return
    }
    if (place !== owner.bodies.oldest && body.bytes > SMALL_BODY_BYTES) {
      body.isPaused = true
      body.source.pause()
    }
    this.#timer ??= setInterval(() => this.#look(), this.#bounds.lookMilliseconds).unref()
    // The first bytes of many small bodies alone exceed the bound: there is no time to wait.
    if (owner.bytes > 2 * this.#bounds.ownerBytesMax) {
      this.#giveUpLargestOf(owner)
    } else if (this.#bytes > 2 * this.#bounds.bytesMax) {
      this.#giveUpLargest()
    }
  }

  #isCrowded(owner: Owner): boolean {
    return owner.bytes > this.#bounds.ownerBytesMax || this.#bytes > this.#bounds.bytesMax
  }

  #end(place: Place<Body>): void {
    const { bytes, owner } = place.value
    if (!owner.bodies.remove(place)) {
      return
    }
    owner.bytes -= bytes
    this.#bytes -= bytes
    if (this.#timer !== undefined) {
      this.#readOn()
    }
  }

  /** Once a bound was exceeded: the oldest body of each owner always, the others while there is room. */
  #readOn(): void {
    let isAnyCrowded = false
    for (const owner of this.#owners.values()) {
      const isCrowded = this.#isCrowded(owner)
      isAnyCrowded ||= isCrowded
      for (const place of owner.bodies) {
        const body = place.value
        if (body.isPaused && (place === owner.bodies.oldest || !isCrowded)) {
          body.isPaused = false
          body.idleLooks = 0
          body.source.resume()
        }
      }
    }
    if (!isAnyCrowded) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #look(): void {
    for (const owner of [...this.#owners.values()]) {
      for (const place of owner.bodies) {
        const body = place.value
        body.idleLooks += body.isPaused ? 0 : 1
        if (body.idleLooks >= IDLE_LOOKS_MAX && this.#isCrowded(owner)) {
          this.#giveUp(place, 'slow')
        }
      }
    }
  }

  #giveUpLargest(): void {
    const [owner] = [...this.#owners.values()].sort((one, other) => other.bytes - one.bytes)
    if (owner !== undefined) {
      this.#giveUpLargestOf(owner)
    }
  }

  /** Not the oldest: while others open ever new bodies, that is soon one of an honest sender, who sends it in parts. */
  #giveUpLargestOf({ bodies }: Owner): void {
    let largest = bodies.oldest
    for (const place of bodies) {
      largest = place.value.bytes > (largest?.value.bytes ?? 0) ? place : largest
    }
    if (largest !== undefined) {
      this.#giveUp(largest, 'slow')
    }
  }

  #giveUp(place: Place<Body>, reason: 'late' | 'slow'): void {
    this.#end(place)
    place.value.source.giveUp(reason)
  }
}

/** A body that is too large, or came too slowly; the rest was not read. */
class BodyRefusedError extends Error {
  override readonly name = 'BodyRefusedError'
  readonly refusal: GatewayError

  constructor(refusal: GatewayError) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The client left before it had sent its whole body. */
class BodyCutError extends Error {
  override readonly name = 'BodyCutError'
}

const CUT = 'the connection ended inside the body'

/** API Gateway's own limit of a request, in bytes. */
export const REQUEST_BYTES_MAX = 10 * 1024 * 1024

/**
 * Reads a whole request body. Uses events, which are cheaper than iteration for a small body.
 * @param budget the shared budget, and whose memory the body takes; without it, only the bound of this body applies.
 * @throws BodyRefusedError above `bytesMax`, also of the announced length, or when it comes too slowly; BodyCutError if the connection ends
 *   first.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  budget?: { readonly bodies: BodiesBeingRead; readonly owner: string },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The connection ended before anybody read: its events are over.
    if (request.destroyed) {
      reject(new BodyCutError(CUT))
      return
    }
    if (Number(request.headers['content-length']) > bytesMax) {
      reject(new BodyRefusedError(REQUEST_TOO_LARGE))
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    const stop = (error: Error) => {
      request.off('data', take)
      chunks.length = 0
      counted?.end()
      reject(error)
    }
    const source: BodySource = {
      pause: () => request.pause(),
      resume: () => request.resume(),
      giveUp: (reason) => {
        request.pause()
        stop(new BodyRefusedError(reason === 'late' ? BODY_TOO_LATE : BODY_TOO_SLOW))
      },
    }
    const counted = budget?.bodies.begin(source, budget.owner)
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > bytesMax) {
        stop(new BodyRefusedError(REQUEST_TOO_LARGE))
        return
      }
      chunks.push(chunk)
      counted?.add(chunk.length)
    }
    const cut = (cause?: Error) => stop(new BodyCutError(CUT, { cause }))
    request.on('data', take)
    request.once('end', () => {
      request.off('close', cut)
      counted?.end()
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size))
    })
    request.on('error', cut)
    request.once('close', cut)
  })
}

/** The response to a request whose body was not read, or that failed in any other way. */
export function refusalOf(error: unknown): GatewayError {
  return error instanceof BodyRefusedError ? error.refusal : INTERNAL_ERROR
}
