import * as z from 'zod'
import { clipFor } from '../shared/clip-files.ts'
import { type P2Body, p2BodySchema, p2ParametersSchema } from './p2-body.ts'
import { contentFault } from './p2-content-rules.ts'
import { type P2ModelLine, p2ModelLine } from './p2-model-line.ts'
import { textFlags } from './p2-text-flags.ts'

/** P2Details in a state file. */
export const p2DetailsSchema = z.object({
  parameters: p2ParametersSchema,
  generation: z.union([z.literal(1), z.literal(2)]),
  resolution: z.string(),
  /** The ratio of the video, never `adaptive`. */
  ratio: z.string(),
  /** Length of the served clip. */
  seconds: z.number(),
})

/** The part of an accepted submit that responses need. */
export type P2Details = Readonly<z.infer<typeof p2DetailsSchema>>

/** The result of a validation. `param` is the invalid field. */
export type P2Submit =
  | { readonly kind: 'valid'; readonly prompt: string; readonly details: P2Details }
  | { readonly kind: 'unknown_model'; readonly model: string }
  | { readonly kind: 'missing'; readonly param: string }
  | { readonly kind: 'invalid'; readonly param: string; readonly reason: string }

const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', '5:4', 'adaptive']
const AUTO_SECONDS = -1
const DEFAULT_SECONDS = 5
const FRAMES_PER_SECOND = 24
const FRAMES_MIN = 29
const FRAMES_MAX = 289

/** Validates a submit like P2: an invalid value of a top-level field is an error, never replaced. */
export function validateP2Submit(value: unknown): P2Submit {
  const parsed = p2BodySchema.safeParse(value)
  if (!parsed.success) {
    return schemaFault(parsed.error.issues[0])
  }
  const body = parsed.data
  const line = p2ModelLine(body.model)
  if (line === undefined) {
    return { kind: 'unknown_model', model: body.model }
  }
  const fault = valueFault(body, line) ?? audioFault(body, line)
  if (fault !== undefined) {
    const task = body.content.some((part) => part.type === 'image_url') ? 'i2v' : 't2v'
    const reason = `the parameter ${fault} specified in the request is not valid for model ${line.name} in ${task}.`
    return { kind: 'invalid', param: fault, reason }
  }
  const contentReason = contentFault(body.content, line)
  if (contentReason !== undefined) {
    const reason = `The parameter \`content\` specified in the request is not valid: ${contentReason}.`
    return { kind: 'invalid', param: 'content', reason }
  }
  const prompt = body.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
  return { kind: 'valid', prompt, details: detailsOf(body, line, prompt) }
}

function schemaFault(issue: z.core.$ZodIssue | undefined): P2Submit {
  const unknownMember = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const param = [...(issue?.path ?? []), ...unknownMember].join('.')
  if (issue?.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return { kind: 'missing', param: param === '' ? 'model' : param }
  }
  const reason = `The parameter \`${param}\` specified in the request is not valid: ${issue?.message ?? 'bad body'}.`
  return { kind: 'invalid', param, reason }
}

/** The first parameter whose value the line of models does not accept. */
function valueFault(body: P2Body, line: P2ModelLine): string | undefined {
  if (body.resolution !== undefined && !line.resolutions.includes(body.resolution)) {
    return 'resolution'
  }
  if (body.ratio !== undefined && !RATIOS.includes(body.ratio)) {
    return 'ratio'
  }
  if (body.duration !== undefined && !takesDuration(body.duration, line)) {
    return 'duration'
  }
  const { frames } = body
  const isFrames = frames === undefined || (frames >= FRAMES_MIN && frames <= FRAMES_MAX && (frames - 25) % 4 === 0)
  return isFrames && (frames === undefined || line.generation === 1) ? undefined : 'frames'
}

function takesDuration(seconds: number, line: P2ModelLine): boolean {
  return (
    (seconds === AUTO_SECONDS && line.hasAutoDuration) ||
    (seconds >= line.durationSecondsMin && seconds <= line.durationSecondsMax)
  )
}

/** The first generation has no sound. */
function audioFault(body: P2Body, line: P2ModelLine): string | undefined {
  return line.generation === 1 && body.generate_audio !== undefined ? 'generate_audio' : undefined
}

function detailsOf(body: P2Body, line: P2ModelLine, prompt: string): P2Details {
  // The documents do not define precedence. The prompt wins here, which is the dangerous case.
  const flags = line.generation === 1 ? textFlags(prompt) : {}
  const flagResolution = line.resolutions.find((resolution) => resolution === flags.resolution)
  const flagSeconds = flags.duration !== undefined && takesDuration(flags.duration, line) ? flags.duration : undefined
  const ratio = [flags.ratio, body.ratio].find((candidate) => candidate !== undefined && RATIOS.includes(candidate))
  const bodySeconds = body.frames === undefined ? body.duration : body.frames / FRAMES_PER_SECOND
  const seconds = flagSeconds ?? bodySeconds ?? DEFAULT_SECONDS
  const shownRatio = ratio === undefined || ratio === 'adaptive' ? '16:9' : ratio
  const { content: _content, ...parameters } = body
  return {
    parameters,
    generation: line.generation,
    resolution: flagResolution ?? body.resolution ?? line.defaultResolution,
    ratio: shownRatio,
    seconds: clipFor({ ratio: shownRatio, seconds: seconds === AUTO_SECONDS ? DEFAULT_SECONDS : seconds }).seconds,
  }
}
