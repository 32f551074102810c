import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'
import { answerText, readFixture } from '../adapters/providers/upstream-fixture.ts'
import { CLIP } from './result-files.ts'

/** Answers of P2 as they were recorded. */
const ANSWERS = {
  queued: 'p2_poll_queued',
  running: 'p2_poll_running',
  succeeded: 'p2_poll_succeeded',
  failed: 'p2_poll_failed_internal',
} as const

type TaskState = keyof typeof ANSWERS

export type ReplayedUpstream = Loopback & {
  /** What the next polls find, one after the other; the last one is repeated. */
  nextStates(...states: TaskState[]): void
}

/** P2's direct route, with its recorded answers; a finished task's video is a clip of three seconds. */
export async function startReplayedUpstream(): Promise<ReplayedUpstream> {
  let states: readonly TaskState[] = ['running']
  const server = await listenHttp((request, response) => {
    if (request.url?.startsWith('/video.mp4')) {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP)
      return
    }
    const name = request.method === 'POST' ? 'p2_submit_t2v' : ANSWERS[states[0] ?? 'running']
    if (request.method === 'GET' && states.length > 1) {
      states = states.slice(1)
    }
    // The query stays: signed urls are most of what makes an answer long.
    const text = answerText(readFixture(name)).replace(/https:[^"?]*\.mp4/, `${server.origin}/video.mp4`)
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  })
  return {
    ...server,
    nextStates: (...next) => {
      states = next
    },
  }
}
