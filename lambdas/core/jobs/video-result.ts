import type { Resolution } from '../parameters/video-parameters.ts'

/**
 * What an upstream reports about a finished video. Numbers stay the decimal strings that arrived (`String` of a JSON number, or
 * a string of digits): adapters find them, and the settlement judges them.
 */
export type VideoResult = {
  readonly videoUrl: string | undefined
  /** `usage.completion_tokens`, where the upstream counts tokens. */
  readonly completionTokens: string | undefined
  /** Seconds that the upstream bills; for edits, input and output together. */
  readonly billableSeconds: string | undefined
  /** Length of the video itself, in seconds. */
  readonly outputSeconds: string | undefined
  /** The tier that was made, which may differ from the one requested. */
  readonly resolution: Resolution | undefined
  readonly audio: boolean | undefined
}
