import type { Resolution } from '#core/catalogue/parameters.ts'

/** One row of the two tables of video models in docs/api.md, with the limits of references. */
export type ModelRow = {
  readonly id: string
  readonly maxSeconds: number
  readonly resolutions: readonly Resolution[]
  readonly images: readonly [least: number, most: number]
  readonly videos: readonly [least: number, most: number]
  readonly audios: readonly [least: number, most: number]
  readonly audioDefault: boolean
}

const ALL: readonly Resolution[] = ['480P', '720P', '1080P']
const UP_TO_720P: readonly Resolution[] = ['480P', '720P']
const FROM_720P: readonly Resolution[] = ['720P', '1080P']

const FAMILY_A_2 = { images: [0, 9], videos: [0, 1], audios: [0, 3], audioDefault: true } as const
const FAMILY_A_1 = { images: [0, 1], videos: [0, 0], audios: [0, 0], audioDefault: false } as const
const FAMILY_B = { videos: [0, 0], audios: [0, 0], audioDefault: true } as const

export const FAMILY_A_ROWS: readonly ModelRow[] = [
  { id: 'famA-2-0-260128', maxSeconds: 15, resolutions: ALL, ...FAMILY_A_2 },
  { id: 'famA-2', maxSeconds: 15, resolutions: ALL, ...FAMILY_A_2 },
  { id: 'famA-2-fast', maxSeconds: 15, resolutions: ALL, ...FAMILY_A_2 },
  { id: 'famA-2-lite', maxSeconds: 15, resolutions: ALL, ...FAMILY_A_2 },
  { id: 'famA-2-pro', maxSeconds: 15, resolutions: ALL, ...FAMILY_A_2 },
  { id: 'famA-1-lite', maxSeconds: 10, resolutions: UP_TO_720P, ...FAMILY_A_1 },
  { id: 'famA-1-pro', maxSeconds: 10, resolutions: UP_TO_720P, ...FAMILY_A_1 },
]

export const FAMILY_B_ROWS: readonly ModelRow[] = [
  { id: 'famB-1.1-t2v', maxSeconds: 15, resolutions: ALL, ...FAMILY_B, images: [0, 0] },
  { id: 'famB-1.1-i2v', maxSeconds: 15, resolutions: ALL, ...FAMILY_B, images: [1, 1] },
  { id: 'famB-1.1-r2v', maxSeconds: 15, resolutions: ALL, ...FAMILY_B, images: [1, 9] },
  { id: 'famB-1.0-t2v', maxSeconds: 15, resolutions: ALL, ...FAMILY_B, images: [0, 0] },
  { id: 'famB-1.0-i2v', maxSeconds: 15, resolutions: ALL, ...FAMILY_B, images: [1, 1] },
  { id: 'famB-1.0-r2v', maxSeconds: 15, resolutions: ALL, ...FAMILY_B, images: [1, 9] },
  { id: 'famB-1.0-video-edit', maxSeconds: 15, resolutions: FROM_720P, ...FAMILY_B, images: [0, 5], videos: [1, 1] },
]

export const MODEL_ROWS: readonly ModelRow[] = [...FAMILY_A_ROWS, ...FAMILY_B_ROWS]

export function urls(count: number, kind = 'image'): string[] {
  return Array.from({ length: count }, (_, index) => `https://media.example.com/${kind}-${index}`)
}

/** A body with just the references that the model's row cannot do without. */
export function smallestBody(row: ModelRow): Record<string, unknown> {
  return {
    model: row.id,
    prompt: 'a paper city',
    image_urls: urls(row.images[0]),
    video_urls: urls(row.videos[0], 'video'),
  }
}
