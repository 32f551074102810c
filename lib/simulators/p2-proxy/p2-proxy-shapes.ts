import { p2Seed, p2Usage } from '../p2/p2-state.ts'
import {
  errorOf,
  headOf,
  type ProxyBody,
  type ProxyRendering,
  type ProxyTask,
  traceId,
  unixSeconds,
  upstreamBody,
  upstreamId,
} from './p2-proxy-parts.ts'
import { progressOf, proxyStatus } from './p2-proxy-words.ts'

/** The submit response in the configured shape. */
export function proxySubmitBody(task: ProxyTask, rendering: ProxyRendering): ProxyBody {
  const { shape } = rendering.behaviour
  const head = headOf(task, rendering)
  switch (shape) {
    case 'task':
      return { ...head, trace_id: traceId(task.id) }
    case 'unified':
      return {
        ...head,
        type: 'video',
        task_info: { can_cancel: true, estimated_time: Math.ceil((task.endsAtMs - task.submittedAtMs) / 1000) || 0 },
        usage: { billing_rule: 'per_call', credits_reserved: 1 },
      }
    case 'wrapped':
      return { id: task.id, task_id: task.id, object: 'video', model: head.model, status: 'queued', ...startOf(task) }
    case 'creator':
      return { ...head, poll_url: `${rendering.baseUrl}/v1/video/generations/${task.id}` }
    case 'raw':
      return { id: task.id }
    default:
      return shape satisfies never
  }
}

/** The poll response in the configured shape. */
export function proxyPollBody(task: ProxyTask, rendering: ProxyRendering): ProxyBody {
  const { shape } = rendering.behaviour
  switch (shape) {
    case 'task':
      return taskShape(task, rendering)
    case 'unified':
      return unifiedShape(task, rendering)
    case 'wrapped':
      return wrappedShape(task, rendering)
    case 'creator':
      return creatorShape(task, rendering)
    case 'raw':
      return upstreamBody(task, rendering, task.id)
    default:
      return shape satisfies never
  }
}

function taskShape(task: ProxyTask, rendering: ProxyRendering): ProxyBody {
  const { behaviour, videoUrl } = rendering
  const head = headOf(task, rendering)
  const { resolution, ratio, seconds } = task.details
  if (task.phase === 'failed') {
    return failedTaskShape(task, head)
  }
  if (task.phase === 'waiting') {
    return head
  }
  const data = videoUrl === undefined ? [] : [{ url: videoUrl }]
  const upstream = upstreamBody(task, rendering, upstreamId(task))
  if (task.phase !== 'succeeded') {
    const { id, model, status, created_at, updated_at } = upstream
    return { ...head, upstream_response: { id, model, status, created_at, updated_at } }
  }
  if (task.magic.isMinimal) {
    return { task_id: task.id, status: 'completed', data }
  }
  const usage = p2Usage(task, behaviour)
  return {
    ...head,
    data,
    ...(videoUrl !== undefined && { video_url: videoUrl }),
    duration: seconds,
    resolution,
    ...(!behaviour.omitRatio && { ratio }),
    framespersecond: '24',
    ...(task.details.generation === 2 && { generate_audio: task.details.parameters.generate_audio ?? true }),
    seed: task.details.parameters.seed ?? p2Seed(task.id),
    ...(usage !== undefined && { usage }),
    tos_key: `video/${task.id}.mp4`,
    trace_id: traceId(task.id),
    upstream_response: upstream,
  }
}

/** `[fail]` has the short form with a string as error, every other failure the long form. */
function failedTaskShape(task: ProxyTask, head: ProxyBody): ProxyBody {
  if (task.magic.ending === 'fail') {
    return { task_id: task.id, status: head.status, error: 'upstream rejected the task' }
  }
  const { id, task_id, object, status, model } = head
  return { id, task_id, object, status, model, error: errorOf(task), trace_id: traceId(task.id) }
}

function unifiedShape(task: ProxyTask, rendering: ProxyRendering): ProxyBody {
  const results = rendering.videoUrl === undefined ? [] : [rendering.videoUrl]
  return {
    ...headOf(task, rendering),
    type: 'video',
    ...(task.phase === 'succeeded' && { results }),
    ...(task.phase === 'failed' && { error: errorOf(task) }),
  }
}

function wrappedShape(task: ProxyTask, rendering: ProxyRendering): ProxyBody {
  const status = rendering.oddStatus ?? proxyStatus(task.phase, 'wrapped', rendering.behaviour.statusWords)
  const isDone = task.phase === 'succeeded' || task.phase === 'failed'
  const data = {
    task_id: task.id,
    action: 'generate',
    status,
    fail_reason: task.phase === 'failed' ? errorOf(task).message : '',
    submit_time: unixSeconds(task.submittedAtMs),
    start_time: task.phase === 'waiting' ? 0 : unixSeconds(task.startsAtMs),
    finish_time: isDone ? unixSeconds(task.endsAtMs) : 0,
    progress: `${progressOf(task.phase)}%`,
    data: upstreamBody(task, rendering, upstreamId(task)),
  }
  return { code: 'success', message: '', data }
}

function creatorShape(task: ProxyTask, rendering: ProxyRendering): ProxyBody {
  const { videoUrl } = rendering
  const usage = p2Usage(task, rendering.behaviour)
  return {
    ...headOf(task, rendering),
    poll_url: `${rendering.baseUrl}/v1/video/generations/${task.id}`,
    ...(videoUrl !== undefined && {
      data: [{ url: videoUrl, video_url: videoUrl }],
      url: videoUrl,
      video_url: videoUrl,
      duration: task.details.seconds,
    }),
    ...(task.phase === 'succeeded' && usage !== undefined && { usage }),
    ...(task.phase === 'failed' && { error: errorOf(task) }),
  }
}

function startOf(task: ProxyTask): ProxyBody {
  return { progress: 0, created_at: unixSeconds(task.submittedAtMs) }
}
