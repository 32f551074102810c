import { randomUUID } from 'node:crypto'
import type { SimulatedTask } from '../shared/simulated-task.ts'
import { p1Status } from './p1-responses.ts'
import type { P1Details } from './p1-validation.ts'

const PAGE_SIZE = 10
const PAGE_SIZE_MAX = 100

/** P1's list: newest first, statuses only, no result urls, times in milliseconds. */
export function p1ListBody(tasks: readonly SimulatedTask<P1Details>[], query: URLSearchParams): unknown {
  const pageNumber = Math.max(1, Number(query.get('page_no')) || 1)
  const pageSize = Math.min(PAGE_SIZE_MAX, Math.max(1, Number(query.get('page_size')) || PAGE_SIZE))
  const rows = tasks.map(rowOf).filter((row) => matches(row.status, query.get('status')))
  const found = rows.filter((row) => matches(row.model_name, query.get('model_name')))
  return {
    total: found.length,
    data: found.slice((pageNumber - 1) * pageSize, pageNumber * pageSize),
    total_page: Math.ceil(found.length / pageSize),
    page_no: pageNumber,
    request_id: randomUUID(),
    page_size: pageSize,
  }
}

function matches(value: string, wanted: string | null): boolean {
  return wanted === null || wanted === '' || value === wanted
}

function rowOf(task: SimulatedTask<P1Details>) {
  const isDone = task.phase === 'succeeded' || task.phase === 'failed'
  const isStarted = isDone || task.phase === 'running'
  return {
    api_key_id: '1',
    caller_parent_id: '1',
    caller_uid: '1',
    ...(isDone && { end_time: task.endsAtMs }),
    gmt_create: task.submittedAtMs,
    model_name: task.details.model,
    region: 'simulated',
    request_id: randomUUID(),
    ...(isStarted && { start_time: task.startsAtMs }),
    status: p1Status(task.phase, 'usual'),
    task_id: task.id,
    user_api_unique_key: `apikey:v1:aigc:video-generation:video-synthesis:${task.details.model}`,
  }
}
