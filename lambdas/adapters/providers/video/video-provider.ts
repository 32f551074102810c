import type { VideoModel } from '#core/catalogue/model.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import type { VideoResult } from '#core/jobs/video-job.ts'

/** What a submit needs besides its channel. */
export type SubmitCommand = {
  readonly request: VideoJobRequest
  readonly model: VideoModel
  /** The upstream's id of the model, from the channel's mapping. */
  readonly upstreamModelId: string
}

/**
 * The outcome of a submit (docs/decisions/0001). Submits are not idempotent upstream:
 * only `busy`, `channel_refused` and `unreachable` may ever be tried again.
 */
export type SubmitOutcome =
  /** The upstream created a task. `text` is its reply, byte for byte. */
  | { readonly kind: 'accepted'; readonly taskId: string; readonly text: string }
  /** The request is at fault (400, 409, 413, 415, 422, other 4xx, content policy): the job fails with the upstream's message. */
  | { readonly kind: 'rejected'; readonly message: string; readonly text: string }
  /** The channel is at fault (401, 402, 403, 404, 405, 410, arrears, unknown or unopened model): another channel may take the job. */
  | { readonly kind: 'channel_refused'; readonly reason: string }
  /** 429, or 503 with an error body: not accepted; try later or elsewhere. */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterSeconds: number | undefined }
  /** No byte of the request was sent (DNS, refused connection, TLS): try later or elsewhere. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The request may have been accepted, so it is never posted again. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** The outcome of a poll. `text` is the upstream's reply, byte for byte. */
export type PollOutcome =
  /** `isKnownStatus` is false for an undocumented status word: the job goes on, and the word, `statusWord`, is counted. */
  | { readonly kind: 'running'; readonly text: string; readonly isKnownStatus: boolean; readonly statusWord?: string }
  | { readonly kind: 'succeeded'; readonly text: string; readonly result: VideoResult }
  | { readonly kind: 'failed'; readonly text: string; readonly message: string }
  /** The upstream does not know the task (404, P1's `UNKNOWN`). Only several in a row count. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** The state is unknown (429, 5xx, timeout, bad key, not JSON): poll again later. */
  | { readonly kind: 'unavailable'; readonly reason: string }

/** The outcome of a cancel. `refused` means that the task runs on. */
export type CancelOutcome = 'cancelled' | 'refused' | 'unknown'

/**
 * One upstream account. Adapters build bodies and read replies; waiting, retrying and choosing belong to the pipeline.
 * No method throws for anything that an upstream does.
 */
export interface VideoProvider {
  submit(command: SubmitCommand): Promise<SubmitOutcome>
  poll(taskId: string): Promise<PollOutcome>
  /** Asks the upstream to stop a task that has not begun. */
  cancel(taskId: string): Promise<CancelOutcome>
}
