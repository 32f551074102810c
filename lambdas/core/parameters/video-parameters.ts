/** The closed sets of the video interface ("POST /v1/video/generations", body table). */

/** Canonical spelling inside and in prices; any case is accepted from a client. */
export const RESOLUTIONS = ['480P', '720P', '1080P'] as const
/** Lines of the picture, in canonical spelling. */
export type Resolution = (typeof RESOLUTIONS)[number]

/** Width to height, as a client writes it. */
export const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9'] as const
/** Width to height of the output video. */
export type AspectRatio = (typeof ASPECT_RATIOS)[number]

/** Seconds of output video, before a model's own limits. */
export const DURATION_SECONDS = { min: 3, max: 15, default: 5 } as const

/** Seconds of a reference video, before a model's own limit. */
export const INPUT_VIDEO_SECONDS_MAX = 600

/** A video job as a client asked for it, every default filled in. Wire names; `callback_url` never leaves for an upstream. */
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
