import type { Resolution } from '#core/catalogue/parameters.ts'

export type Frame = readonly [width: number, height: number]

/** Frames of every landscape and square ratio, 1.x line and 2.x line; portrait is the same with sides swapped. */
export const FRAMES: Readonly<Record<Resolution, readonly Frame[]>> = {
  '480P': [
    [864, 480],
    [736, 544],
    [640, 640],
    [960, 416],
    [864, 496],
    [752, 560],
    [640, 640],
    [992, 432],
  ],
  '720P': [
    [1248, 704],
    [1120, 832],
    [960, 960],
    [1504, 640],
    [1280, 720],
    [1112, 834],
    [960, 960],
    [1470, 630],
  ],
  '1080P': [
    [1920, 1088],
    [1664, 1248],
    [1440, 1440],
    [2176, 928],
    [1920, 1080],
    [1664, 1248],
    [1440, 1440],
    [2206, 946],
  ],
}

/** `completion_tokens` as upstreams count them. */
export function tokensOf([width, height]: Frame, seconds: number): number {
  return Math.floor((width * height * (24 * seconds + 1)) / 1024)
}
