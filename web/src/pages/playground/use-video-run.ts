import { useEffect, useRef, useState } from 'preact/hooks'
import { gatewayRequest } from '../../api/gateway-request.ts'
import { eventsOf } from '../../api/gateway-stream.ts'
import type { CreatedVideoJob, VideoEvent, VideoJob } from '../../api/gateway-types.ts'
import { queryClient } from '../../api/query-client.ts'
import { describeFailure } from '../../components/action-dialog.tsx'
import { afterEvent, FIRST_RUN_STATE, hasEnded, type RunState } from '../../core/playground/run-state.ts'

type VideoRun = {
  readonly tenant: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  /** A repeat of the create finds the same job. */
  readonly idempotencyKey: string
}

/** A lost connection is opened again after this. */
const RECONNECT_MILLISECONDS = 2_000

/** Creates one job when the component appears, and follows its events until the end. The job goes on when the page is left. */
export function useVideoRun(run: VideoRun) {
  const [state, setState] = useState<RunState>(FIRST_RUN_STATE)
  const [isCancelling, setCancelling] = useState(false)
  const current = useRef(state)
  const update = (next: RunState) => {
    current.current = next
    setState(next)
  }
  useEffect(() => {
    const left = new AbortController()
    follow(run, { signal: left.signal, state: () => current.current, update }).catch((error: unknown) => {
      if (!left.signal.aborted) {
        update({ ...current.current, status: 'failed', error: describeFailure(error) })
      }
    })
    return () => left.abort()
  }, [run.idempotencyKey])
  const cancel = async () => {
    setCancelling(true)
    try {
      await gatewayRequest(`/video/generations/${state.jobId}/cancel`, { tenant: run.tenant, method: 'POST' })
    } finally {
      setCancelling(false)
    }
  }
  return { state, cancel, isCancelling }
}

type Following = {
  readonly signal: AbortSignal
  readonly state: () => RunState
  readonly update: (state: RunState) => void
}

async function follow(run: VideoRun, following: Following): Promise<void> {
  const { signal, state, update } = following
  const headers = { 'idempotency-key': run.idempotencyKey }
  const created = await gatewayRequest('/video/generations', {
    tenant: run.tenant,
    method: 'POST',
    body: run.body,
    headers,
    signal,
  })
  const { id } = (await created.json()) as CreatedVideoJob
  update({ ...state(), jobId: id, status: 'queued' })
  while (!hasEnded(state()) && !signal.aborted) {
    await readEvents(id, run, following)
    if (!hasEnded(state()) && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MILLISECONDS))
    }
  }
  void queryClient.invalidateQueries()
  if (state().status === 'succeeded') {
    const job = await gatewayRequest(`/video/generations/${id}`, { tenant: run.tenant, signal })
    const { url } = (await job.json()) as VideoJob
    update({ ...state(), url })
  }
}

async function readEvents(id: string, { tenant }: VideoRun, { signal, state, update }: Following): Promise<void> {
  const headers = { accept: 'text/event-stream' }
  const response = await gatewayRequest(`/video/generations/${id}/events`, { tenant, headers, signal })
  try {
    for await (const { data } of eventsOf(response)) {
      update(afterEvent(state(), JSON.parse(data) as VideoEvent))
      if (hasEnded(state())) {
        return
      }
    }
  } catch (error) {
    if (signal.aborted) {
      throw error
    }
  }
}
