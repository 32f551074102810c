import type { ProxyShape, StatusWords } from '../shared/behaviour.ts'
import type { TaskPhase } from '../shared/simulated-task.ts'

type Words = Readonly<Record<TaskPhase, string>>

const USUAL: Readonly<Record<ProxyShape, Words>> = {
  task: {
    waiting: 'pending',
    running: 'processing',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
    expired: 'expired',
  },
  unified: {
    waiting: 'pending',
    running: 'processing',
    succeeded: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    expired: 'failed',
  },
  wrapped: {
    waiting: 'NOT_START',
    running: 'IN_PROGRESS',
    succeeded: 'SUCCESS',
    failed: 'FAILURE',
    cancelled: 'FAILURE',
    expired: 'FAILURE',
  },
  creator: {
    waiting: 'queued',
    running: 'running',
    succeeded: 'completed',
    failed: 'failed',
    cancelled: 'cancelled',
    expired: 'failed',
  },
  raw: {
    waiting: 'queued',
    running: 'running',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
    expired: 'expired',
  },
}

const RARE: Words = {
  waiting: 'submitted',
  running: 'generating',
  succeeded: 'success',
  failed: 'error',
  cancelled: 'canceled',
  expired: 'timeout',
}

/** The status word of a shape for a phase. */
export function proxyStatus(phase: TaskPhase, shape: ProxyShape, words: StatusWords): string {
  return words === 'rare' ? RARE[phase] : USUAL[shape][phase]
}

/** Progress of a task in percent. */
export function progressOf(phase: TaskPhase): number {
  switch (phase) {
    case 'waiting':
      return 0
    case 'running':
      return 50
    default:
      return 100
  }
}
