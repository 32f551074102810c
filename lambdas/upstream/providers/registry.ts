import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoJob, VideoResult } from '#core/jobs/video-job.ts'
import { createP1VideoProvider, readP1Result } from './p1.ts'
import { createP2ProxyVideoProvider, createP2VideoProvider, readP2Result, taskViews } from './p2.ts'
import { decimalText, fieldAt, firstOf, parseJson } from './reply-reading.ts'
import type { VideoProviderDependencies } from './upstream-http.ts'
import type { VideoProvider } from './video-provider.ts'

/** Creates the adapter for the wire contract of a channel, by its provider type and, for P2, its route. */
export function createVideoProvider(channel: VideoChannel, dependencies: VideoProviderDependencies): VideoProvider {
  if (channel.provider === 'p1') {
    return createP1VideoProvider({ ...dependencies, channel })
  }
  switch (channel.route) {
    case 'direct':
    case 'international':
      return createP2VideoProvider({ ...dependencies, channel })
    case 'proxy':
      return createP2ProxyVideoProvider({ ...dependencies, channel })
    default:
      return channel.route satisfies never
  }
}

/**
 * Reads a stored success reply by the wire contract of its provider. Because this is a pure function, no fact of a result is
 * stored twice, and a step that only reads needs neither the channel nor its credential.
 */
export function readVideoResult(provider: NonNullable<VideoJob['provider']>, text: string): VideoResult {
  switch (provider) {
    case 'p1':
      return readP1Result(text)
    case 'p2':
      return readP2Result(text)
    default:
      return provider satisfies never
  }
}

const PERCENT_MAX = 100

/**
 * How far a task is, as the reply to a submit or a poll says; from 0 to 100. Proxies of P2 say it in `progress`, as a number or as `"37%"`. P1 and
 * P2's own API do not. Undefined if the reply says nothing, or something else.
 */
export function reportedPercent({ provider }: Pick<VideoChannel, 'provider'>, text: string): number | undefined {
  switch (provider) {
    case 'p1':
      return undefined
    case 'p2':
      return firstOf(taskViews(parseJson(text)).map((view) => percentOf(fieldAt(view, 'progress'))))
    default:
      return provider satisfies never
  }
}

function percentOf(value: unknown): number | undefined {
  const number = decimalText(typeof value === 'string' ? value.trim().replace(/ ?%$/, '') : value)
  const percent = number === undefined ? undefined : Math.trunc(Number(number))
  return percent === undefined || percent > PERCENT_MAX ? undefined : percent
}

/**
 * The generation time that a success reply reports, in seconds from the upstream's acceptance to the end; undefined if the
 * reply has none. The number is unchecked: it may be zero, negative or absurd.
 */
export function reportedGenerationSeconds(
  { provider }: Pick<VideoChannel, 'provider'>,
  text: string,
): number | undefined {
  const body = parseJson(text)
  switch (provider) {
    case 'p1':
      return secondsOf(fieldAt(body, 'output'))
    case 'p2':
      return firstOf(taskViews(body).map(secondsOf))
    default:
      return provider satisfies never
  }
}

/** The fields of begin and end that P1, P2 and the proxies use. `updated_at` is used only if no better field for the end is present. */
const BEGIN = ['submit_time', 'created_at', 'scheduled_time']
const END = ['end_time', 'finish_time', 'completed_at', 'updated_at']

function secondsOf(view: unknown): number | undefined {
  const instantOf = (names: readonly string[]) => firstOf(names.map((name) => unixSeconds(fieldAt(view, name))))
  const [begin, end] = [instantOf(BEGIN), instantOf(END)]
  return begin === undefined || end === undefined ? undefined : end - begin
}

/** Unix times above this are milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** P1's times name no zone, which the difference of two times does not need. */
const TIME_OF_DAY = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)/

function unixSeconds(value: unknown): number | undefined {
  const number = decimalText(value)
  if (number !== undefined) {
    return Number(number) >= MILLISECONDS_FROM ? Number(number) / 1000 : Number(number)
  }
  const match = typeof value === 'string' ? TIME_OF_DAY.exec(value) : null
  const milliseconds = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}Z`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000
}
