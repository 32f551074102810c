import { readFileSync } from 'node:fs'

/** Whole seconds for which there is a clip; the range of durations that the gateway offers. */
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

/** 4:3 lies exactly between 16:9 and 1:1: the earlier shape, which keeps landscape landscape, wins such ties. */
const TIE = 1e-9

const CLIPS_FOLDER = new URL('../clips/', import.meta.url)

/** The clip whose length and shape come nearest. A `ratio` that is not `W:H` is taken for 16:9. */
export function clipFor(wanted: { readonly ratio: string; readonly seconds: number }): Clip {
  const seconds = Math.min(CLIP_SECONDS_MAX, Math.max(CLIP_SECONDS_MIN, Math.round(wanted.seconds)))
  return { fileName: `${shapeNear(wanted.ratio)}-${String(seconds).padStart(2, '0')}s.mp4`, seconds }
}

function shapeNear(ratio: string): string {
  const [width, height] = ratio.split(':').map(Number)
  const wanted = width !== undefined && height !== undefined && width > 0 && height > 0 ? width / height : 16 / 9
  // Twice as wide is as far away as twice as high, hence the logarithm.
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
