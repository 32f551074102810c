import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { startP2Simulator } from '../../lib/simulators/p2.ts'
import { startP2ProxySimulator } from '../../lib/simulators/p2-proxy.ts'
import { at, type ClientResponse, startForTest } from './simulator-client.ts'

const P2_TASKS = '/api/v3/contents/generations/tasks'

/** The video providers: their paths, a text-to-video body, and where a submit response has the task id. */
const PROVIDERS = {
  p1: {
    start: startP1Simulator,
    submit: '/api/v1/services/aigc/video-generation/video-synthesis',
    task: '/api/v1/tasks/',
    id: ['output', 'task_id'],
    status: ['output', 'task_status'],
    url: ['output', 'video_url'],
    body: (prompt: string) => ({
      model: 'famB-1.1-t2v',
      input: { prompt },
      parameters: { resolution: '720P', ratio: '16:9', duration: 5 },
    }),
  },
  p2: {
    start: startP2Simulator,
    submit: P2_TASKS,
    task: `${P2_TASKS}/`,
    id: ['id'],
    status: ['status'],
    url: ['content', 'video_url'],
    body: (prompt: string) => ({
      model: 'famA-2-0-260128',
      content: [{ type: 'text', text: prompt }],
      ...{ resolution: '720p', ratio: '16:9', duration: 5, generate_audio: true, watermark: true },
    }),
  },
  'p2-proxy': {
    start: startP2ProxySimulator,
    submit: '/v1/video/generations',
    task: '/v1/video/generations/',
    id: ['task_id'],
    status: ['status'],
    url: ['video_url'],
    body: (prompt: string) => ({
      model: 'famA-2',
      prompt,
      ...{ duration: 5, resolution: '720p', aspect_ratio: '16:9' },
    }),
  },
}

/** The name of a simulated video provider. */
export type Provider = keyof typeof PROVIDERS
type Options = Parameters<typeof startP1Simulator>[0]

/** Starts a video provider, until the end of the test. */
export async function useVideo(provider: Provider, options: Options = {}) {
  const { start, submit: submitPath, task, ...wire } = PROVIDERS[provider]
  const { simulator, clock, call } = await startForTest(start, options)
  const bodyOf = (wish: unknown) => (typeof wish === 'string' ? wire.body(wish) : wish)
  /** Submits a body, or a prompt. */
  const submit = (wish: unknown, headers: Record<string, string> = { 'x-provider-async': 'enable' }) =>
    call(submitPath, { body: bodyOf(wish), headers })
  const begin = async (wish: unknown) => String(at((await submit(wish)).body, ...wire.id))
  const poll = (taskId: string) => call(`${task}${taskId}`)
  const statusOf = ({ body }: ClientResponse) => at(body, ...wire.status)
  const urlOf = ({ body }: ClientResponse) => String(at(body, ...wire.url))
  /** Submits, lets the task end, polls. */
  const finish = async (wish: unknown) => {
    const taskId = await begin(wish)
    clock.advanceSeconds(4)
    return poll(taskId)
  }
  return { simulator, clock, call, submit, begin, poll, finish, statusOf, urlOf, submitPath, task, body: wire.body }
}
