import type { VideoModel } from '#core/catalogue/model.ts'
import type { VideoResult } from '#core/jobs/video-result.ts'
import type { VideoJobRequest } from '#core/parameters/video-parameters.ts'

/** What a submit needs besides the channel it goes through. */
export type SubmitCommand = {
  readonly request: VideoJobRequest
  readonly model: VideoModel
  /** The upstream's own id for the model, as the channel maps it. */
  readonly upstreamModelId: string
}

/**
 * What came of a submit (docs/decisions/0017). Submits are not idempotent upstream:
 * only `busy`, `channel_refused` and `unreachable` may ever be tried again.
 */
export type SubmitOutcome =
  /** The upstream made a task. `text` is its answer, byte for byte. */
  | { readonly kind: 'accepted'; readonly taskId: string; readonly text: string }
  /** The request's own fault (400, 409, 413, 415, 422, other 4xx, content policy): the job fails with the upstream's words. */
  | { readonly kind: 'rejected'; readonly message: string; readonly text: string }
  /** The channel's fault (401, 402, 403, 404, 405, 410, arrears, unknown or unopened model): another channel may take it. */
  | { readonly kind: 'channel_refused'; readonly reason: string }
  /** 429, or 503 with an error body: not accepted, later or elsewhere. */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterSeconds: number | undefined }
  /** No byte of the request was sent (DNS, refused, TLS): later or elsewhere. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The request may have been accepted; it is never posted again. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** What a poll found. `text` is the upstream's answer, byte for byte. */
export type PollOutcome =
  /** `isKnownStatus` is false for a status word that no document lists: still processing, but counted. `statusWord` is that word. */
  | { readonly kind: 'running'; readonly text: string; readonly isKnownStatus: boolean; readonly statusWord?: string }
  | { readonly kind: 'succeeded'; readonly text: string; readonly result: VideoResult }
  | { readonly kind: 'failed'; readonly text: string; readonly message: string }
  /** The upstream does not know the task (404, P1's `UNKNOWN`): only several in a row mean it. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** No verdict (429, 5xx, timeout, bad key, not JSON): poll again later. */
  | { readonly kind: 'unavailable'; readonly reason: string }

/** `refused` means that the task runs on. */
export type CancelOutcome = 'cancelled' | 'refused' | 'unknown'

/**
 * One upstream account. Adapters build bodies and read answers; waiting, retrying and choosing belong to the pipeline.
 * None of the methods throws for anything an upstream does.
 */
export interface VideoProvider {
  submit(command: SubmitCommand): Promise<SubmitOutcome>
  poll(taskId: string): Promise<PollOutcome>
  /** Asks the upstream to stop a task that has not begun. */
  cancel(taskId: string): Promise<CancelOutcome>
}
