import { RESOLUTIONS, type Resolution } from '#core/catalogue/parameters.ts'
import type { VideoResult } from '#core/jobs/video-job.ts'
import { decimalText, firstDecimal, firstOf, memberAt, parseJson, reportedQuantity } from '../video/json-reading.ts'

/** Family A always makes 24 frames per second. Replies hold either seconds or frames. */
const FRAMES_PER_SECOND = 24

/** Rounds a third of a second to microseconds. */
const SECONDS_DECIMALS = 6

const HTTP_URL = /^https?:\/\//i

/**
 * The places where a proxy may put the fields of a task, outermost first: the top level, an envelope's `data`, and the nested
 * reply of the upstream itself.
 */
export function taskViews(body: unknown): readonly unknown[] {
  const data = memberAt(body, 'data')
  const nested = memberAt(data, 'data')
  return [body, data, memberAt(body, 'upstream_response'), nested, memberAt(data, 'upstream_response')]
}

/** Reads what a success reply of any P2 route says about the video. The first place that has a value wins. */
export function readP2Result(text: string): VideoResult {
  return p2Result(parseJson(text))
}

/** As {@link readP2Result}, for a parsed body. */
export function p2Result(body: unknown): VideoResult {
  const views = taskViews(body)
  const seconds = firstDecimal(views.flatMap(secondsOf))
  return {
    videoUrl: firstOf(views.flatMap(urlsOf).map(httpUrl)),
    completionTokens: reportedQuantity(views.flatMap(tokensOf)),
    billableSeconds: seconds ?? reportedQuantity(views.flatMap(secondsOf)),
    // A length of zero counts as missing: the stored file has the real one.
    outputSeconds: Number(seconds) > 0 ? seconds : undefined,
    resolution: firstOf(views.flatMap(resolutionsOf)),
    audio: firstOf(views.map(audioOf)),
  }
}

function urlsOf(view: unknown): readonly unknown[] {
  return [
    memberAt(view, 'content', 'video_url'),
    memberAt(view, 'video_url'),
    memberAt(view, 'data', 0, 'url'),
    memberAt(view, 'data', 0, 'video_url'),
    memberAt(view, 'url'),
    memberAt(view, 'results', 0),
    memberAt(view, 'results', 0, 'url'),
    memberAt(view, 'metadata', 'url'),
  ]
}

function httpUrl(value: unknown): string | undefined {
  return typeof value === 'string' && HTTP_URL.test(value) ? value : undefined
}

function tokensOf(view: unknown): readonly unknown[] {
  return [memberAt(view, 'usage', 'completion_tokens'), memberAt(view, 'metadata', 'usage', 'completion_tokens')]
}

function secondsOf(view: unknown): readonly unknown[] {
  return [memberAt(view, 'duration'), secondsOfFrames(memberAt(view, 'frames')), memberAt(view, 'metadata', 'duration')]
}

function secondsOfFrames(frames: unknown): number | undefined {
  const count = decimalText(frames)
  return count === undefined ? undefined : Number((Number(count) / FRAMES_PER_SECOND).toFixed(SECONDS_DECIMALS))
}

function resolutionsOf(view: unknown): readonly (Resolution | undefined)[] {
  return [memberAt(view, 'resolution'), memberAt(view, 'metadata', 'resolution')].map((value) =>
    RESOLUTIONS.find((resolution) => typeof value === 'string' && resolution === value.toUpperCase()),
  )
}

function audioOf(view: unknown): boolean | undefined {
  const value = memberAt(view, 'generate_audio')
  return typeof value === 'boolean' ? value : undefined
}
