import type { Resolution } from '../parameters/video-parameters.ts'

/** Frames per second of every token-billed video. */
const FRAMES_PER_SECOND = 24

/** One token per this many pixels: `floor(width * height * frames / 1024)`, as replies of upstreams show. */
const PIXELS_PER_TOKEN = 1024

/**
 * The largest frame of a resolution in pixels, over all aspect ratios and both generations of family A (480P: 864x496 and
 * 992x432, 720P: 1504x640, 1080P: 1920x1088).
 */
const WIDEST_FRAME_PIXELS: Record<Resolution, number> = {
  '480P': 864 * 496,
  '720P': 1504 * 640,
  '1080P': 1920 * 1088,
}

/**
 * An upper bound of `usage.completion_tokens`, rounded up. A clip of s seconds has 24s + 1 frames; the full length of a
 * reference video is added.
 */
export function completionTokensMax(resolution: Resolution, outputSeconds: number, inputVideoSeconds: number): number {
  const frames = FRAMES_PER_SECOND * (outputSeconds + inputVideoSeconds) + 1
  return Math.ceil((WIDEST_FRAME_PIXELS[resolution] * frames) / PIXELS_PER_TOKEN)
}
