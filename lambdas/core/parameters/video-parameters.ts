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
