/** Canonical spelling, as in prices; clients may use any case. */
export const RESOLUTIONS = ['480P', '720P', '1080P'] as const
/** Lines of the video, in canonical spelling. */
export type Resolution = (typeof RESOLUTIONS)[number]

/** Width to height. */
export const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9'] as const
/** Width to height of the output video. */
export type AspectRatio = (typeof ASPECT_RATIOS)[number]

/** Seconds of the output video, before the limits of its model. */
export const DURATION_SECONDS = { min: 3, max: 15, default: 5 } as const

/** Most seconds of a reference video, before the limit of its model. */
export const INPUT_VIDEO_SECONDS_MAX = 600

/** A client's request for a video job with all defaults, in wire names. `callback_url` is never sent to an upstream. */
export type VideoJobRequest = {
  readonly model: string
  readonly prompt: string
  /** Seconds. */
  readonly duration: number
  readonly resolution: Resolution
  readonly aspect_ratio: AspectRatio
  readonly generate_audio: boolean
  readonly watermark: boolean
  readonly fps?: number | undefined
  readonly image_urls: readonly string[]
  readonly video_urls: readonly string[]
  readonly audio_urls: readonly string[]
  readonly callback_url?: string | undefined
}

/** The fields by which upstreams limit a completion: the older one, which most know, and the newer one of OpenAI. */
export const OUTPUT_LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const
/** One of {@link OUTPUT_LIMIT_FIELDS}. */
export type OutputLimitField = (typeof OUTPUT_LIMIT_FIELDS)[number]

/** The client's limits; null and undefined mean no limit. */
export type AskedLimits = Readonly<Partial<Record<OutputLimitField, number | null | undefined>>>

/** A change to the limit in a body. */
export type LimitChange = {
  readonly write?: { readonly name: OutputLimitField; readonly tokens: number }
  readonly leaveOut?: OutputLimitField
}

type Upstream = {
  /** The field that the channel needs; undefined if the client's will do. */
  readonly wanted: OutputLimitField | undefined
  /** The limit for a client that sets none; undefined to leave the limit to the upstream. */
  readonly fallback: number | undefined
}

/** Adapts the limit of a request to an upstream. A limit in the right field keeps its bytes; of two limits, the smaller counts. */
export function changeOutputLimit(asked: AskedLimits, { wanted, fallback }: Upstream): LimitChange {
  const limits = OUTPUT_LIMIT_FIELDS.flatMap((name) => asked[name] ?? [])
  const tokens = limits.length === 0 ? fallback : Math.min(...limits)
  if (tokens === undefined || (limits.length > 0 && wanted === undefined)) {
    return {}
  }
  const name = wanted ?? 'max_tokens'
  const other = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  return {
    ...(asked[name] === tokens ? {} : { write: { name, tokens } }),
    ...(asked[other] === undefined ? {} : { leaveOut: other }),
  }
}

/** What a chat model may take or give, in the words of model lists of other services. */
export const MODALITIES = ['text', 'image', 'audio', 'video', 'file'] as const
