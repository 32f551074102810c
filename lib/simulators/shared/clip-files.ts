import { readFileSync } from 'node:fs'

/** Durations of the clips in whole seconds, the range that the gateway offers. */
export const CLIP_SECONDS_MIN = 3
/** The longest clip, in whole seconds. */
export const CLIP_SECONDS_MAX = 15

/** A video from `clips/`. `seconds` is its true length, to the frame. */
export type Clip = { readonly fileName: string; readonly seconds: number }

const SHAPES = [
  { name: '16x9', ratio: 16 / 9 },
  { name: '9x16', ratio: 9 / 16 },
  { name: '1x1', ratio: 1 },
] as const

/** 4:3 is exactly between 16:9 and 1:1. The earlier shape wins ties, so landscape stays landscape. */
const TIE = 1e-9

const CLIPS_FOLDER = new URL('../clips/', import.meta.url)

/** The clip with the nearest length and shape. A `ratio` other than `W:H` counts as 16:9. */
export function clipFor(wanted: { readonly ratio: string; readonly seconds: number }): Clip {
  const seconds = Math.min(CLIP_SECONDS_MAX, Math.max(CLIP_SECONDS_MIN, Math.round(wanted.seconds)))
  return { fileName: `${shapeNear(wanted.ratio)}-${String(seconds).padStart(2, '0')}s.mp4`, seconds }
}

function shapeNear(ratio: string): string {
  const [width, height] = ratio.split(':').map(Number)
  const wanted = width !== undefined && height !== undefined && width > 0 && height > 0 ? width / height : 16 / 9
  // The logarithm makes twice as wide as distant as twice as high.
  const distance = (shape: { readonly ratio: number }) => Math.abs(Math.log(shape.ratio / wanted))
  return SHAPES.reduce((nearest, shape) => (distance(shape) < distance(nearest) - TIE ? shape : nearest)).name
}

const clipBytes = new Map<string, Buffer>()

/** The bytes of a clip, read once. */
export function readClip(clip: Clip): Buffer {
  const known = clipBytes.get(clip.fileName)
  if (known !== undefined) {
    return known
  }
  const bytes = readFileSync(new URL(clip.fileName, CLIPS_FOLDER))
  clipBytes.set(clip.fileName, bytes)
  return bytes
}
