import { useEffect, useRef, useState } from 'preact/hooks'
import { gatewayRequest } from '../../api/gateway-request.ts'
import { eventsOf } from '../../api/gateway-stream.ts'
import type { CreatedVideoJob, VideoEvent, VideoJob } from '../../api/gateway-types.ts'
import { queryClient } from '../../api/query-client.ts'
import { pause, tryRequest } from '../../api/try-request.ts'
import { describeFailure } from '../../components/action-dialog.tsx'
import { afterEvent, FIRST_RUN_STATE, hasEnded, type RunState } from '../../core/playground/run-state.ts'

type VideoRun = {
  readonly tenant: string | undefined
  readonly body: Readonly<Record<string, unknown>>
  /** A repeat of the create finds the same job. */
  readonly idempotencyKey: string
}

/** A stream of events that has ended before the job is opened again after this. */
const RECONNECT_MILLISECONDS = 2_000

/** Of the create, which one job answers however often it arrives. */
const CREATE_TRIES = 3

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
  const renewUrl = () => signedUrl(state.jobId ?? '', run.tenant)
  return { state, cancel, isCancelling, renewUrl }
}

type Following = {
  readonly signal: AbortSignal
  readonly state: () => RunState
  readonly update: (state: RunState) => void
}

async function follow(run: VideoRun, following: Following): Promise<void> {
  const { signal, state, update } = following
  const headers = { 'idempotency-key': run.idempotencyKey }
  const { tenant, body } = run
  const create = () => gatewayRequest('/video/generations', { tenant, method: 'POST', body, headers, signal })
  const created = await tryRequest(create, { tries: CREATE_TRIES, signal })
  const { id } = (await created.json()) as CreatedVideoJob
  update({ ...state(), jobId: id, status: 'queued' })
  // The job goes on while the gateway does not respond, so nothing but a refusal ends this.
  const patiently = { tries: Number.POSITIVE_INFINITY, signal }
  while (!hasEnded(state())) {
    await tryRequest(() => readEvents(id, run, following), patiently)
    if (!hasEnded(state())) {
      await pause(RECONNECT_MILLISECONDS, signal)
    }
  }
  void queryClient.invalidateQueries()
  if (state().status === 'succeeded') {
    update({ ...state(), url: await tryRequest(() => signedUrl(id, tenant, signal), patiently) })
  }
}

/** Where the video of a finished job can be loaded for a while. @throws ApiError */
async function signedUrl(id: string, tenant: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
  const job = await gatewayRequest(`/video/generations/${id}`, { tenant, signal })
  return ((await job.json()) as VideoJob).url
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
