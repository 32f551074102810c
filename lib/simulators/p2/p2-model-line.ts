/** The capabilities of one line of P2 models. */
export type P2ModelLine = {
  /** The model's name in messages of the upstream. */
  readonly name: string
  readonly generation: 1 | 2
  readonly resolutions: readonly string[]
  readonly defaultResolution: string
  readonly durationSecondsMin: number
  readonly durationSecondsMax: number
  /** Whether -1 lets the model choose. */
  readonly hasAutoDuration: boolean
  readonly referenceImagesMax: number
  /** Some models accept only text, others only images. */
  readonly images: 'none' | 'required' | 'allowed'
}

/** A channel may put a word such as `intl-` before the neutral model ids. */
const MODEL_ID = /^(?:[a-z0-9]+-)*(famA-(1-lite|1-pro|2)(?:-[a-z0-9-]+)?)$/

const UP_TO_720P = ['480p', '720p']
const UP_TO_1080P = [...UP_TO_720P, '1080p']
const UP_TO_4K = [...UP_TO_1080P, '4k']

const SECOND_GENERATION = {
  generation: 2,
  defaultResolution: '720p',
  durationSecondsMin: 4,
  durationSecondsMax: 15,
  referenceImagesMax: 9,
  images: 'allowed',
} as const

const FIRST_GENERATION = {
  generation: 1,
  resolutions: UP_TO_1080P,
  durationSecondsMin: 2,
  durationSecondsMax: 12,
  hasAutoDuration: false,
} as const

/** Derives the line from a model id; undefined for an unknown model. */
export function p2ModelLine(modelId: string): P2ModelLine | undefined {
  const match = MODEL_ID.exec(modelId)
  const name = match?.[1]
  if (name === undefined) {
    return undefined
  }
  switch (match?.[2]) {
    case '1-pro':
      return { ...FIRST_GENERATION, name, defaultResolution: '1080p', referenceImagesMax: 0, images: 'allowed' }
    case '1-lite': {
      const images = name.endsWith('-t2v') ? 'none' : name.endsWith('-i2v') ? 'required' : 'allowed'
      return { ...FIRST_GENERATION, name, defaultResolution: '720p', referenceImagesMax: 4, images }
    }
    default: {
      const isSmall = /^famA-2-(fast|lite)/.test(name)
      const resolutions = isSmall ? UP_TO_720P : UP_TO_4K
      return { ...SECOND_GENERATION, name, resolutions, hasAutoDuration: !isSmall }
    }
  }
}
