import type * as z from 'zod'
import type { VideoModel } from '../catalogue/model.ts'
import type { Resolution, VideoJobRequest } from '../catalogue/parameters.ts'
import type { SchemaKit } from '../catalogue/schema-parts.ts'

/**
 * One provider of videos: a task API that takes a submit and is polled until the task has ended. An object of this type holds all
 * that the gateway knows of it, as data and pure functions, and a line of `registry.ts` makes it known. Sending, retrying and
 * choosing belong to others, and so does what upstreams have in common: statuses, error codes and messages.
 *
 * `body` is always the parsed JSON of a reply, of any shape. No function throws.
 * @typeParam Channel what the provider reads of a channel: its own fields.
 */
export interface VideoProvider<Channel = never> {
  /** What a channel's `provider` says; jobs in the table have it too. */
  readonly name: string
  /** The fields of its channels besides those of every video channel. */
  settings(kit: SchemaKit): z.ZodRawShape
  /** The default of a channel's `reference_checks`. */
  readonly checksReferences: boolean
  readonly polling: Polling
  /** The request that begins a task. It is posted once. */
  submit(command: SubmitCommand, channel: Channel): TaskRequest
  /** The path of the poll. The id is escaped already. */
  taskPath(taskId: string, channel: Channel): string
  /** How a task is stopped; undefined where it cannot be. The id is escaped already. */
  cancel(taskId: string, channel: Channel): TaskCancel | undefined
  /** The id of the new task, in the reply to a submit. */
  readTaskId(body: unknown): string | undefined
  /** The status words, in the spelling of `readStatus`, by what they mean. A job goes on under any other word. */
  readonly statuses: Readonly<Record<TaskStatus, readonly string[]>>
  /** The status word of a task; undefined if the reply has none. */
  readStatus(body: unknown): string | undefined
  /** Why a task has failed, for the client. @param word its status. */
  readFailure(body: unknown, word: string): string
  /** What a success says of the video. Stored replies are read again, so nothing of it is stored twice. */
  readResult(body: unknown): VideoResult
  /** How far a task is, from 0 to 100, as the reply to a submit or a poll says; undefined if it does not say. */
  readPercent(body: unknown): number | undefined
  /**
   * Seconds from the acceptance to the end of a task, as a success says; undefined if it does not say. Unchecked: the number may
   * be zero, negative or absurd.
   */
  readGenerationSeconds(body: unknown): number | undefined
}

/** The rhythm of polls, in seconds, for a channel that sets none. */
export type Polling = {
  /** Before the first poll of a job. */
  readonly first: number
  /** Between later polls. */
  readonly interval: number
  /** By how much the usual times of a class may stretch or shorten the interval; 1 for not at all. */
  readonly intervalFactorMax: number
}

/** What a submit needs besides its channel. */
export type SubmitCommand = {
  readonly request: VideoJobRequest
  readonly model: VideoModel
  /** The upstream's id of the model, from the channel's mapping. */
  readonly upstreamModelId: string
}

/** One POST below the base url of a channel; `path` begins with a slash, `body` is sent as JSON. */
export type TaskRequest = {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

/** A request that stops a task. */
export type TaskCancel = {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  /** Decides by the status of the task, which is then read first. Undefined: the request is sent. */
  readonly decide?: (word: string) => CancelOutcome | undefined
}

/** The outcome of a cancel. `refused` means that the task runs on. */
export type CancelOutcome = 'cancelled' | 'refused' | 'unknown'

/** What a status says of a task; `gone`: the upstream does not know it. */
export type TaskStatus = 'open' | 'succeeded' | 'failed' | 'gone'

/**
 * What an upstream reports about a finished video. Numbers stay the decimal strings that arrived (`String` of a JSON number, or
 * a string of digits): providers find them, and the settlement judges them.
 */
export type VideoResult = {
  readonly videoUrl?: string | undefined
  /** `usage.completion_tokens`, where the upstream counts tokens. */
  readonly completionTokens?: string | undefined
  /** Seconds that the upstream bills; for edits, input and output together. */
  readonly billableSeconds?: string | undefined
  /** Length of the video itself, in seconds. */
  readonly outputSeconds?: string | undefined
  /** The tier that was made, which may differ from the one requested. */
  readonly resolution?: Resolution | undefined
  readonly audio?: boolean | undefined
}
