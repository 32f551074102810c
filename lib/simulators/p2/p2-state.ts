import { createHash } from 'node:crypto'
import type { Behaviour } from '../shared/behaviour.ts'
import type { TaskEnding } from '../shared/magic-prompt.ts'
import { rawNumber, usageNumber } from '../shared/raw-number.ts'
import type { SimulatedTask, TaskPhase } from '../shared/simulated-task.ts'
import { withRequestId } from './p2-errors.ts'
import { p2Tokens } from './p2-tokens.ts'
import type { P2Details } from './p2-validation.ts'

/** Default of the seconds after which P2 abandons a task. */
export const EXECUTION_EXPIRES_AFTER_SECONDS = 172_800

const FRAMES_PER_SECOND = 24

const INTERNAL = ['InternalServiceError', 'The service encountered an unexpected internal error.'] as const

const ENDINGS: Readonly<Record<TaskEnding, readonly [code: string, message: string]>> = {
  succeed: INTERNAL,
  fail: INTERNAL,
  'fail:input': [
    'InvalidParameter',
    'The parameter `content[1].image_url` specified in the request is not valid: resource download failed.',
  ],
  moderated: [
    'OutputVideoSensitiveContentDetected',
    'The request failed because the output video may contain sensitive information.',
  ],
  'moderated:audio': [
    'OutputAudioSensitiveContentDetected.PolicyViolation',
    'The request failed because the output audio may be related to copyright restrictions.',
  ],
}

/** P2's status word for a phase. */
function p2Status(phase: TaskPhase, words: Behaviour['statusWords']): string {
  switch (phase) {
    case 'waiting':
      return words === 'rare' ? 'preparing' : 'queued'
    case 'running':
      return words === 'rare' ? 'processing' : 'running'
    default:
      return phase
  }
}

type P2Rendering = {
  readonly behaviour: Behaviour
  /** Undefined for a success without urls. */
  readonly urls: { readonly video: string; readonly lastFrame: string } | undefined
  /** Replaces the real status word. */
  readonly oddStatus?: string
}

/** The poll response of a task, also an item of P2's list. */
export function p2State(task: SimulatedTask<P2Details>, rendering: P2Rendering): Record<string, unknown> {
  const { parameters } = task.details
  const isOdd = rendering.oddStatus !== undefined
  const [code, message] = ENDINGS[task.magic.ending]
  return {
    id: task.id,
    model: parameters.model,
    created_at: seconds(task.submittedAtMs),
    updated_at: seconds(task.changedAtMs),
    service_tier: parameters.service_tier ?? 'default',
    execution_expires_after: parameters.execution_expires_after ?? EXECUTION_EXPIRES_AFTER_SECONDS,
    status: rendering.oddStatus ?? p2Status(task.phase, rendering.behaviour.statusWords),
    ...(parameters.priority !== undefined && { priority: parameters.priority }),
    ...(parameters.safety_identifier !== undefined && { safety_identifier: parameters.safety_identifier }),
    ...(task.phase === 'failed' && !isOdd && { error: { code, message: withRequestId(message) } }),
    ...(task.phase === 'succeeded' && !isOdd && success(task, rendering)),
  }
}

function success(task: SimulatedTask<P2Details>, { behaviour, urls }: P2Rendering): Record<string, unknown> {
  const { parameters, generation, resolution, ratio, seconds: length } = task.details
  const usage = p2Usage(task, behaviour)
  const lastFrame = parameters.return_last_frame === true && { last_frame_url: urls?.lastFrame }
  const format = parameters.output_format ?? (parameters.model.startsWith('intl-') ? 'mp4' : undefined)
  return {
    content: urls === undefined ? {} : { video_url: urls.video, ...lastFrame },
    ...(usage !== undefined && { usage }),
    seed: parameters.seed !== undefined && parameters.seed >= 0 ? parameters.seed : p2Seed(task.id),
    resolution,
    ...(!behaviour.omitRatio && { ratio }),
    ...(parameters.frames === undefined ? { duration: length } : { frames: length * FRAMES_PER_SECOND }),
    framespersecond: FRAMES_PER_SECOND,
    ...(generation === 2 && { generate_audio: parameters.generate_audio ?? true, draft: parameters.draft ?? false }),
    ...(parameters.tools !== undefined && { tools: parameters.tools }),
    ...(format !== undefined && { output_format: format }),
    ...(behaviour.nullError && { error: null }),
  }
}

/** Tokens by the formula or by the prompt; undefined to omit the usage. */
export function p2Usage(task: SimulatedTask<P2Details>, behaviour: Behaviour): Record<string, unknown> | undefined {
  if (behaviour.dropUsage || task.magic.usage === null) {
    return undefined
  }
  const tokens =
    task.magic.usage === undefined
      ? usageNumber(p2Tokens(task.details), behaviour.floatUsage)
      : rawNumber(task.magic.usage)
  const hasTools = (task.details.parameters.tools ?? []).length > 0
  return {
    completion_tokens: tokens,
    total_tokens: tokens,
    ...(hasTools && { tool_usage: { web_search: 1 } }),
  }
}

/** The seed that P2 chose, which is the same in every response for a task. */
export function p2Seed(taskId: string): number {
  return createHash('sha256').update(taskId).digest().readUInt16BE(0)
}

function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}
