/** What the playground needs to know of a video model, from `GET /v1/models`. */
export type VideoModel = {
  readonly id: string
  readonly durations?: { readonly min: number; readonly max: number } | undefined
  readonly resolutions?: readonly string[] | undefined
  readonly references?: Readonly<Record<ReferenceKind, { readonly min: number; readonly max: number }>> | undefined
}

/** The kinds of reference files that a video may be made from. */
export const REFERENCE_KINDS = ['images', 'videos', 'audios'] as const

/** A kind of reference files. */
export type ReferenceKind = (typeof REFERENCE_KINDS)[number]

/** The resolutions of the interface, in ascending order. */
export const RESOLUTIONS: readonly string[] = ['480P', '720P', '1080P']

/** The aspect ratios of the interface. */
export const ASPECT_RATIOS: readonly string[] = ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9']

/** What a person has chosen in the form of a video. */
export type VideoChoice = {
  readonly prompt: string
  readonly duration: number
  readonly resolution: string
  readonly aspectRatio: string
  readonly hasAudio: boolean
  /** Urls, one per line. */
  readonly references: Readonly<Record<ReferenceKind, string>>
}

/** The form of somebody who has not chosen anything. */
export const FIRST_CHOICE: VideoChoice = {
  prompt: '',
  duration: 5,
  resolution: '720P',
  aspectRatio: '16:9',
  hasAudio: true,
  references: { images: '', videos: '', audios: '' },
}

/** The seconds that every model takes; undefined if there are none. A model without limits takes what the interface allows. */
export function sharedDurations(
  models: readonly VideoModel[],
): { readonly min: number; readonly max: number } | undefined {
  const min = Math.max(3, ...models.map(({ durations }) => durations?.min ?? 3))
  const max = Math.min(15, ...models.map(({ durations }) => durations?.max ?? 15))
  return min > max ? undefined : { min, max }
}

/** Why a resolution cannot be chosen; undefined if every model takes it. */
export function resolutionRefusal(models: readonly VideoModel[], resolution: string): string | undefined {
  const refusing = models.filter(({ resolutions }) => resolutions !== undefined && !resolutions.includes(resolution))
  return refusing.length === 0 ? undefined : `not by ${refusing.map(({ id }) => id).join(' and ')}`
}

/** How many references of a kind can be given to every model, and why not more. */
export function referenceLimits(models: readonly VideoModel[], kind: ReferenceKind) {
  const ranges = models.map(({ references }) => references?.[kind] ?? { min: 0, max: 0 })
  const max = Math.min(...ranges.map((range) => range.max), 16)
  const refusing = models.filter((_, index) => ranges[index]?.max === 0)
  return {
    min: Math.max(0, ...ranges.map((range) => range.min)),
    max,
    refusal:
      max > 0
        ? undefined
        : `${refusing.map(({ id }) => id).join(' and ')} ${refusing.length === 1 ? 'takes' : 'take'} no ${kind}`,
  }
}

/** The choice with every value that the models do not take replaced by the nearest one that they do. */
export function fitChoice(choice: VideoChoice, models: readonly VideoModel[]): VideoChoice {
  const range = sharedDurations(models)
  const allowed = RESOLUTIONS.filter((each) => resolutionRefusal(models, each) === undefined)
  return {
    ...choice,
    duration: range === undefined ? choice.duration : Math.min(range.max, Math.max(range.min, choice.duration)),
    resolution: allowed.includes(choice.resolution) ? choice.resolution : (allowed.at(-1) ?? choice.resolution),
  }
}

/** The body of a create or a quote for one model. */
export function videoBody(model: string, choice: VideoChoice): Readonly<Record<string, unknown>> {
  const lists = REFERENCE_KINDS.flatMap((kind) => {
    const urls = lines(choice.references[kind])
    return urls.length === 0 ? [] : [[`${kind.slice(0, -1)}_urls`, urls] as const]
  })
  return {
    model,
    prompt: choice.prompt,
    duration: choice.duration,
    resolution: choice.resolution,
    aspect_ratio: choice.aspectRatio,
    generate_audio: choice.hasAudio,
    ...Object.fromEntries(lists),
  }
}

function lines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
