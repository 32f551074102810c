import { type P1SimulatorOptions, startP1Simulator } from '../../../lib/simulators/p1/p1-simulator.ts'
import type { Simulator } from '../../../lib/simulators/shared/simulator-server.ts'
import { at, type ClientAnswer, call, TestClock } from '../shared/simulator-client.ts'

const SUBMIT_PATH = '/api/v1/services/aigc/video-generation/video-synthesis'

/** A running P1 with a clock of its own. */
export type P1Client = {
  readonly simulator: Simulator
  readonly clock: TestClock
  submit(body: unknown, headers?: Record<string, string>): Promise<ClientAnswer>
  /** Submits a text-to-video task and gives its id. */
  start(prompt: string): Promise<string>
  poll(taskId: string): Promise<ClientAnswer>
  /** Submits, lets the task end, polls. */
  finish(prompt: string): Promise<ClientAnswer>
}

export function textToVideo(prompt: string, parameters: unknown = { resolution: '720P', ratio: '16:9', duration: 5 }) {
  return { model: 'famB-1.1-t2v', input: { prompt }, parameters }
}

/** Starts a P1 for the time of `use`. */
export async function withP1(options: P1SimulatorOptions, use: (client: P1Client) => Promise<void>): Promise<void> {
  const clock = new TestClock()
  const simulator = await startP1Simulator({ now: clock.now, ...options })
  const submit: P1Client['submit'] = (body, headers = { 'x-provider-async': 'enable' }) =>
    call(simulator, SUBMIT_PATH, { body, headers })
  const start: P1Client['start'] = async (prompt) =>
    String(at((await submit(textToVideo(prompt))).body, 'output', 'task_id'))
  const poll: P1Client['poll'] = (taskId) => call(simulator, `/api/v1/tasks/${taskId}`)
  const finish: P1Client['finish'] = async (prompt) => {
    const taskId = await start(prompt)
    clock.advanceSeconds(4)
    return poll(taskId)
  }
  try {
    await use({ simulator, clock, submit, start, poll, finish })
  } finally {
    await simulator.close()
  }
}
