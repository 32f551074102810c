type FrameSize = readonly [width: number, height: number]

/** Landscape frame sizes by resolution and ratio, from P2's documents; portrait swaps width and height. */
const FIRST_GENERATION_FRAMES: Readonly<Record<string, Readonly<Record<string, FrameSize>>>> = {
  '480p': { '16:9': [864, 480], '4:3': [736, 544], '1:1': [640, 640], '21:9': [960, 416] },
  '720p': { '16:9': [1248, 704], '4:3': [1120, 832], '1:1': [960, 960], '21:9': [1504, 640] },
  '1080p': { '16:9': [1920, 1088], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2176, 928] },
}
const SECOND_GENERATION_FRAMES: Readonly<Record<string, Readonly<Record<string, FrameSize>>>> = {
  '480p': { '16:9': [864, 496], '4:3': [752, 560], '1:1': [640, 640], '21:9': [992, 432] },
  '720p': { '16:9': [1280, 720], '4:3': [1112, 834], '1:1': [960, 960], '21:9': [1470, 630] },
  '1080p': { '16:9': [1920, 1080], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2206, 946] },
  // Not published: twice 1080p on each side.
  '4k': { '16:9': [3840, 2160], '4:3': [3328, 2496], '1:1': [2880, 2880], '21:9': [4412, 1892] },
}

/** Landscape ratios with the area of portrait ratios, and of 5:4, which P2 accepts without a published size. */
const SAME_AREA: Readonly<Record<string, string>> = { '9:16': '16:9', '3:4': '4:3', '5:4': '4:3' }

const FRAMES_PER_SECOND = 24
const PIXELS_PER_TOKEN = 1024

type P2TokenQuestion = {
  readonly generation: 1 | 2
  readonly resolution: string
  readonly ratio: string
  readonly seconds: number
}

/** Tokens that P2 bills: width x height x (24 x seconds + 1) / 1024, rounded down. */
export function p2Tokens({ generation, resolution, ratio, seconds }: P2TokenQuestion): number {
  const frames = generation === 1 ? FIRST_GENERATION_FRAMES : SECOND_GENERATION_FRAMES
  const [width, height] = frames[resolution]?.[SAME_AREA[ratio] ?? ratio] ?? [1280, 720]
  return Math.floor((width * height * (FRAMES_PER_SECOND * seconds + 1)) / PIXELS_PER_TOKEN)
}
