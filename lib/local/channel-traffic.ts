import * as z from 'zod'
import type { Channel, RelayChannel } from '#core/catalogue/channel.ts'
import {
  type ChannelFigures,
  type ClientTraffic,
  type CredentialState,
  FAILURE_MEASURES,
  FIRST_BYTE_MEASURE,
  type Measure,
  REQUEST_MEASURES,
  UPSTREAM_ERROR_CLASSES,
  type UpstreamErrorClass,
} from '#core/measures.ts'

/** A minute: how long a call counts. */
const SECONDS = 60

/** Neighbouring times of the distribution differ by a tenth, from a millisecond to more than an hour. */
const GROWTH = 1.1
const BINS = 160

type Second = { second: number; readonly bins: Uint32Array; readonly errors: Map<UpstreamErrorClass, number> }

/** The calls of one channel in the last minute, in bounded memory however many there are. */
export class RecentCalls {
  readonly #seconds: readonly Second[] = Array.from({ length: SECONDS }, () => ({
    second: Number.NEGATIVE_INFINITY,
    bins: new Uint32Array(BINS),
    errors: new Map(),
  }))

  /** Adds a call, an error, or both. */
  add(
    {
      milliseconds,
      errorClass,
    }: { readonly milliseconds?: number; readonly errorClass?: UpstreamErrorClass | undefined },
    nowMilliseconds: number,
  ): void {
    const slot = this.#slotAt(Math.floor(nowMilliseconds / 1_000))
    if (milliseconds !== undefined) {
      const bin = Math.min(BINS - 1, Math.max(0, Math.round(Math.log(milliseconds) / Math.log(GROWTH))))
      slot.bins[bin] = (slot.bins[bin] ?? 0) + 1
    }
    if (errorClass !== undefined) {
      slot.errors.set(errorClass, (slot.errors.get(errorClass) ?? 0) + 1)
    }
  }

  /** Times are exact to a tenth. */
  summary(nowMilliseconds: number): ChannelFigures {
    const last = Math.floor(nowMilliseconds / 1_000)
    const recent = this.#seconds.filter(({ second }) => second > last - SECONDS && second <= last)
    const bins = Array.from({ length: BINS }, (_, bin) => recent.reduce((sum, slot) => sum + (slot.bins[bin] ?? 0), 0))
    const calls = bins.reduce((sum, count) => sum + count, 0)
    const errors: Partial<Record<UpstreamErrorClass, number>> = {}
    for (const [errorClass, count] of recent.flatMap((slot) => [...slot.errors])) {
      errors[errorClass] = (errors[errorClass] ?? 0) + count
    }
    return { calls, errors, p50Milliseconds: quantile(bins, calls, 0.5), p95Milliseconds: quantile(bins, calls, 0.95) }
  }

  #slotAt(second: number): Second {
    const slot = this.#seconds[((second % SECONDS) + SECONDS) % SECONDS]
    if (slot === undefined) {
      throw new RangeError('every second has a slot')
    }
    if (slot.second !== second) {
      slot.second = second
      slot.bins.fill(0)
      slot.errors.clear()
    }
    return slot
  }
}

/** The time that this share of the calls did not exceed. */
function quantile(bins: readonly number[], calls: number, share: number): number | null {
  let left = Math.ceil(calls * share)
  if (left === 0) {
    return null
  }
  const bin = bins.findIndex((count) => {
    left -= count
    return left <= 0
  })
  return Math.round(GROWTH ** bin)
}

/** Minutes that a chart shows. */
const MINUTES = 30

type Measured = Readonly<Partial<Record<Measure, number | undefined>>>
type Counts = { requests: number; errors: number }

/** What clients of this host did in the last half hour, in bounded memory. */
export class RecentTraffic {
  /** By Unix second; seconds without traffic are left out. */
  readonly #seconds = new Map<number, Counts>()
  readonly #firstBytes = new RecentCalls()

  /** Adds what was measured at once. */
  add(values: Measured, nowMilliseconds: number): void {
    const requests = sumOf(values, REQUEST_MEASURES)
    const errors = sumOf(values, FAILURE_MEASURES)
    const firstByte = values[FIRST_BYTE_MEASURE]
    if (firstByte !== undefined) {
      this.#firstBytes.add({ milliseconds: firstByte }, nowMilliseconds)
    }
    if (requests + errors === 0) {
      return
    }
    const second = Math.floor(nowMilliseconds / 1_000)
    const counts = this.#seconds.get(second) ?? { requests: 0, errors: 0 }
    this.#seconds.set(second, { requests: counts.requests + requests, errors: counts.errors + errors })
    for (const old of this.#seconds.keys()) {
      // The oldest come first.
      if (old > second - MINUTES * SECONDS) {
        break
      }
      this.#seconds.delete(old)
    }
  }

  /** The last sixty seconds, and every minute of the last half hour, the current one included. */
  traffic(nowMilliseconds: number): ClientTraffic {
    const now = Math.floor(nowMilliseconds / 1_000)
    const { p50Milliseconds, p95Milliseconds } = this.#firstBytes.summary(nowMilliseconds)
    const last = Math.floor(now / SECONDS)
    const minutes = Array.from({ length: MINUTES }, (_, index) => {
      const minute = last - MINUTES + 1 + index
      const from = minute * SECONDS
      return { at: from * 1_000, ...this.#sumBetween(from, from + SECONDS) }
    })
    return {
      minuteFrom: (now - SECONDS) * 1_000,
      ...this.#sumBetween(now - SECONDS + 1, now + 1),
      ...{ p50Milliseconds, p95Milliseconds, minutes },
    }
  }

  #sumBetween(from: number, before: number): Counts {
    const sum = { requests: 0, errors: 0 }
    for (const [second, { requests, errors }] of this.#seconds) {
      if (second >= from && second < before) {
        sum.requests += requests
        sum.errors += errors
      }
    }
    return sum
  }
}

function sumOf(values: Measured, names: readonly Measure[]): number {
  return names.reduce((sum, name) => sum + (values[name] ?? 0), 0)
}

const HOUR_MILLISECONDS = 60 * SECONDS * 1_000

/** When breakers opened in the last hour, by channel. A pause lies between two openings, so there are few. */
export class BreakerOpenings {
  readonly #times = new Map<string, readonly number[]>()

  /** Adds one of a channel. */
  add(channel: string, nowMilliseconds: number): void {
    this.#times.set(channel, [...this.#recent(channel, nowMilliseconds), nowMilliseconds])
  }

  /** How many there were, by channel. */
  ofLastHour(nowMilliseconds: number): ReadonlyMap<string, number> {
    return new Map([...this.#times.keys()].map((channel) => [channel, this.#recent(channel, nowMilliseconds).length]))
  }

  #recent(channel: string, nowMilliseconds: number): readonly number[] {
    return (this.#times.get(channel) ?? []).filter((at) => at > nowMilliseconds - HOUR_MILLISECONDS)
  }
}

/**
 * What the host knows of its channels at this moment, by their ids: the last minute, the breaker of each relay channel, and the credentials of
 * those without a key.
 */
export const channelTrafficSchema = z.object({
  channels: z.record(
    z.string(),
    z.object({
      calls: z.number(),
      errors: z.partialRecord(z.enum(UPSTREAM_ERROR_CLASSES), z.number()),
      p50Milliseconds: z.number().nullable(),
      p95Milliseconds: z.number().nullable(),
      breaker: z.enum(['closed', 'open', 'half_open']).nullable(),
    }),
  ),
  credentials: z.record(z.string(), z.object({ expiresAt: z.number().nullable(), problem: z.string().nullable() })),
})

/** The traffic of every channel that was called since the start. */
export type ChannelTraffic = z.infer<typeof channelTrafficSchema>

/** Tells how the credentials of channels without a key are. Gets them beside that, so that there is something to tell without a request. */
async function watchCredentials(channels: readonly Channel[]): Promise<() => Map<string, CredentialState>> {
  const { authOf, authState } = await import('#platform/upstream-auth/upstream-auth.ts')
  const keyless = channels.flatMap((channel) =>
    channel.provider === 'openai' && channel.auth !== undefined ? [channel] : [],
  )
  const stateOf = (channel: RelayChannel) => {
    authOf(channel).catch(() => undefined)
    const { expiresAt = null, failure } = authState(channel)
    return { expiresAt, problem: failure instanceof Error ? failure.message : null }
  }
  const describe = () => new Map(keyless.map((channel) => [channel.id, stateOf(channel)]))
  describe()
  return describe
}

/**
 * Watches the channels of this process from now on.
 * @param channels of its configuration.
 * @returns what describes them at a moment.
 */
export async function watchChannels(channels: readonly Channel[]): Promise<() => ChannelTraffic> {
  const credentials = await watchCredentials(channels)
  const { provideFigures } = await import('#platform/telemetry/current-figures.ts')
  const { observeMeasures } = await import('#platform/telemetry/measures.ts')
  const { observeUpstreams } = await import('#upstream/measures.ts')
  const { openRelayContext } = await import('#lambdas/relay/relay-context.ts')
  const recent = new Map<string, RecentCalls>()
  const traffic = new RecentTraffic()
  observeUpstreams(({ channelId, ...fact }) => {
    const calls = recent.get(channelId) ?? new RecentCalls()
    recent.set(channelId, calls)
    calls.add(fact, Date.now())
  })
  const openings = new BreakerOpenings()
  observeMeasures({
    measured: (values) => traffic.add(values, Date.now()),
    counted: (fact, { channel }) => {
      if (fact === 'breaker_opened' && channel !== undefined) {
        openings.add(channel, Date.now())
      }
    },
  })
  const breakerOf = (id: string) => openRelayContext().breakers.shownState({ id }, Date.now())
  provideFigures((nowMilliseconds) => ({
    minuteFrom: nowMilliseconds - SECONDS * 1_000,
    byChannel: new Map([...recent].map(([id, calls]) => [id, calls.summary(nowMilliseconds)])),
    breakers: new Map(
      [...recent.keys()].flatMap((id) => {
        const state = breakerOf(id)
        return state === undefined ? [] : [[id, state] as const]
      }),
    ),
    breakerOpenings: openings.ofLastHour(nowMilliseconds),
    traffic: traffic.traffic(nowMilliseconds),
    credentials: credentials(),
  }))
  return () => ({
    channels: Object.fromEntries(
      Array.from(recent, ([id, calls]) => [id, { ...calls.summary(Date.now()), breaker: breakerOf(id) ?? null }]),
    ),
    credentials: Object.fromEntries(credentials()),
  })
}
