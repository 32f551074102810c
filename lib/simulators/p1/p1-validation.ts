import * as z from 'zod'

/** The kind of a P1 model, from the suffix of its id. */
type P1Kind = 't2v' | 'i2v' | 'r2v' | 'video-edit'
const P1_KINDS = ['t2v', 'i2v', 'r2v', 'video-edit'] as const satisfies readonly P1Kind[]

/** P1Details in a state file. */
export const p1DetailsSchema = z.object({
  model: z.string(),
  kind: z.enum(P1_KINDS),
  resolutionHeight: z.number(),
  ratio: z.string(),
  /** Length of the video. */
  seconds: z.number(),
  /** Length of the edited video; 0 for other kinds. */
  inputSeconds: z.number(),
})

/** The part of an accepted submit that responses need. */
export type P1Details = Readonly<z.infer<typeof p1DetailsSchema>>

type P1Submit =
  | { readonly kind: 'valid'; readonly prompt: string; readonly details: P1Details }
  | { readonly kind: 'unknown_model' }
  | { readonly kind: 'invalid'; readonly reason: string }

/** Assumed length of every edited video, because nothing is downloaded. */
const EDIT_INPUT_SECONDS = 6

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9'] as const
const SEED_MAX = 2_147_483_647
const REFERENCE_IMAGES_MAX = 9
const EDIT_IMAGES_MAX = 5

const imageUrl = z.string().regex(/^(https?:\/\/|data:image\/)/)
const prompt = z.string().min(1)
const media = <Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), url: imageUrl })
const editMedia = z
  .array(
    z.union([
      media('reference_image'),
      z.strictObject({ type: z.literal('video'), url: z.url({ protocol: /^https?$/ }) }),
    ]),
  )
  .refine((entries) => entries.filter((entry) => entry.type === 'video').length === 1, 'exactly one video')
  .refine((entries) => entries.length <= 1 + EDIT_IMAGES_MAX, 'too many reference images')

const resolution = z.enum(['480P', '720P', '1080P']).default('1080P')
const always = { resolution, watermark: z.boolean().optional(), seed: z.int().min(0).max(SEED_MAX).optional() }
const duration = z.int().min(3).max(15).default(5)
const ratio = z.enum(RATIOS).default('16:9')
const model = z.string()

/** Strict: a parameter of another kind is refused, not ignored. */
const SUBMITS = {
  t2v: z.strictObject({
    model,
    input: z.strictObject({ prompt }),
    parameters: z.strictObject({ ...always, ratio, duration }).prefault({}),
  }),
  i2v: z.strictObject({
    model,
    input: z.strictObject({ prompt: z.string().default(''), media: z.array(media('first_frame')).length(1) }),
    parameters: z.strictObject({ ...always, duration }).prefault({}),
  }),
  r2v: z.strictObject({
    model,
    input: z.strictObject({ prompt, media: z.array(media('reference_image')).min(1).max(REFERENCE_IMAGES_MAX) }),
    parameters: z.strictObject({ ...always, ratio, duration }).prefault({}),
  }),
  'video-edit': z.strictObject({
    model,
    input: z.strictObject({ prompt, media: editMedia }),
    parameters: z.strictObject({ ...always, audio_setting: z.enum(['auto', 'origin']).optional() }).prefault({}),
  }),
}

/** Checks a submit more strictly than P1: unknown fields are refused too. */
export function validateP1Submit(body: unknown): P1Submit {
  const head = z.object({ model: z.string() }).safeParse(body)
  if (!head.success) {
    return { kind: 'invalid', reason: 'model' }
  }
  const kind = P1_KINDS.find((candidate) => head.data.model.endsWith(`-${candidate}`))
  if (kind === undefined) {
    return { kind: 'unknown_model' }
  }
  const parsed = SUBMITS[kind].safeParse(body)
  if (!parsed.success) {
    return { kind: 'invalid', reason: parsed.error.issues.map(issueText).join('; ') }
  }
  const { input, parameters } = parsed.data
  if (parameters.resolution === '480P' && head.data.model.includes('-1.0-')) {
    return { kind: 'invalid', reason: 'parameters.resolution: the 1.0 line has no 480P' }
  }
  const details = {
    model: head.data.model,
    kind,
    resolutionHeight: Number.parseInt(parameters.resolution, 10),
    ratio: 'ratio' in parameters ? parameters.ratio : '16:9',
    seconds: 'duration' in parameters ? parameters.duration : EDIT_INPUT_SECONDS,
    inputSeconds: kind === 'video-edit' ? EDIT_INPUT_SECONDS : 0,
  }
  return { kind: 'valid', prompt: input.prompt, details }
}

function issueText(issue: z.core.$ZodIssue): string {
  return `${issue.path.join('.')}: ${issue.message}`
}
