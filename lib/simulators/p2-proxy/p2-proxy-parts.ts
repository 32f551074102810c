import { createHash } from 'node:crypto'
import { p2State } from '../p2/p2-state.ts'
import { p2TaskId } from '../p2/p2-task-id.ts'
import type { P2Details } from '../p2/p2-validation.ts'
import type { Behaviour } from '../shared/behaviour.ts'
import type { SimulatedTask } from '../shared/simulated-task.ts'
import { progressOf, proxyStatus } from './p2-proxy-words.ts'

/** A task of the proxy is one of P2. */
export type ProxyTask = SimulatedTask<P2Details>
/** A JSON object of the proxy. */
export type ProxyBody = Record<string, unknown>

/** What a shape is made from. */
export type ProxyRendering = {
  readonly behaviour: Behaviour
  readonly baseUrl: string
  /** Undefined while there is none, and for a success without one. */
  readonly videoUrl: string | undefined
  /** A status word instead of the real one. */
  readonly oddStatus?: string
}

/** Members that the shapes with an object of their own share. */
export function headOf(task: ProxyTask, { behaviour, oddStatus }: ProxyRendering): ProxyBody {
  const hasTaskId = behaviour.shape !== 'unified'
  return {
    id: task.id,
    ...(hasTaskId && { task_id: task.id }),
    object: 'video.generation.task',
    status: oddStatus ?? proxyStatus(task.phase, behaviour.shape, behaviour.statusWords),
    model: task.details.parameters.model,
    created: unixSeconds(task.submittedAtMs),
    progress: oddStatus === undefined ? progressOf(task.phase) : 0,
  }
}

/** The whole body that P2 gave the proxy. */
export function upstreamBody(task: ProxyTask, rendering: ProxyRendering, id: string): ProxyBody {
  const { behaviour, videoUrl, oddStatus } = rendering
  const urls = videoUrl === undefined ? undefined : { video: videoUrl, lastFrame: videoUrl }
  const isRaw = behaviour.shape === 'raw'
  return p2State(
    { ...task, id },
    // The proxy has status words of its own; those of P2 are unchanged.
    {
      behaviour: isRaw ? behaviour : { ...behaviour, statusWords: 'usual' },
      urls,
      ...(isRaw && oddStatus !== undefined && { oddStatus }),
    },
  )
}

/** The error object of the shapes that have one. */
export function errorOf(task: ProxyTask): { code: string; message: string; type: string } {
  const isModerated = task.magic.ending.startsWith('moderated')
  return isModerated
    ? {
        code: 'content_policy_violation',
        message: 'The request failed because the output video may contain sensitive information.',
        type: 'task_error',
      }
    : { code: 'task_failed', message: 'upstream rejected the task', type: 'task_error' }
}

/** The id that the task has at P2: another one than the proxy's, and always the same. */
export function upstreamId(task: ProxyTask): string {
  return `${p2TaskId(task.submittedAtMs).slice(0, -5)}${traceId(task.id).slice(0, 5)}`
}

/** Hexadecimal digits that belong to a task. */
export function traceId(taskId: string): string {
  return createHash('sha256').update(taskId).digest('hex').slice(0, 16)
}

/** Whole seconds since 1970. */
export function unixSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}
