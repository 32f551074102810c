import { startP2Simulator } from '../../../lib/simulators/p2/p2-simulator.ts'
import { startP2ProxySimulator } from '../../../lib/simulators/p2-proxy/p2-proxy-simulator.ts'
import type { SimulatorOptions } from '../../../lib/simulators/shared/behaviour.ts'
import type { Simulator } from '../../../lib/simulators/shared/simulator-server.ts'
import { at, type ClientAnswer, call, TestClock } from '../shared/simulator-client.ts'

export const P2_TASKS_PATH = '/api/v3/contents/generations/tasks'
const PROXY_TASKS_PATH = '/v1/video/generations'

/** A running P2, or a proxy in front of it, with a clock of its own. */
export type P2Client = {
  readonly simulator: Simulator
  readonly clock: TestClock
  submit(body: unknown): Promise<ClientAnswer>
  poll(taskId: string): Promise<ClientAnswer>
  /** Submits and gives the task id. */
  start(body: unknown): Promise<string>
  /** Submits, lets the task end, polls. */
  finish(body: unknown): Promise<ClientAnswer>
}

/** A P2 text-to-video body; `more` replaces or adds members. */
export function p2Body(text: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    model: 'famA-2-0-260128',
    content: [{ type: 'text', text }],
    resolution: '720p',
    ratio: '16:9',
    duration: 5,
    generate_audio: true,
    watermark: true,
    ...more,
  }
}

/** A P2 body with references of the given kinds. */
export function p2Content(
  ...parts: readonly (readonly [type: string, role?: string, url?: string])[]
): Record<string, unknown> {
  const media = parts.map(([type, role, url = 'https://in.example.test/a']) => ({
    type,
    [type]: { url },
    ...(role !== undefined && { role }),
  }))
  return p2Body('a cat', { content: [{ type: 'text', text: 'a cat' }, ...media] })
}

export function proxyBody(prompt: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: 'famA-2', prompt, duration: 5, resolution: '720p', aspect_ratio: '16:9', ...more }
}

/** Starts a P2 for the time of `use`. */
export function withP2(options: SimulatorOptions, use: (client: P2Client) => Promise<void>): Promise<void> {
  return withSimulator({ options, start: startP2Simulator, path: P2_TASKS_PATH }, use)
}

/** Starts a proxy for the time of `use`. */
export function withProxy(options: SimulatorOptions, use: (client: P2Client) => Promise<void>): Promise<void> {
  return withSimulator({ options, start: startP2ProxySimulator, path: PROXY_TASKS_PATH }, use)
}

type What = {
  readonly options: SimulatorOptions
  readonly start: (options: SimulatorOptions) => Promise<Simulator>
  readonly path: string
}

async function withSimulator(what: What, use: (client: P2Client) => Promise<void>): Promise<void> {
  const clock = new TestClock()
  const simulator = await what.start({ now: clock.now, ...what.options })
  const submit: P2Client['submit'] = (body) => call(simulator, what.path, { body })
  const poll: P2Client['poll'] = (taskId) => call(simulator, `${what.path}/${taskId}`)
  const start: P2Client['start'] = async (body) => String(at((await submit(body)).body, 'id'))
  const finish: P2Client['finish'] = async (body) => {
    const taskId = await start(body)
    clock.advanceSeconds(4)
    return poll(taskId)
  }
  try {
    await use({ simulator, clock, submit, poll, start, finish })
  } finally {
    await simulator.close()
  }
}
