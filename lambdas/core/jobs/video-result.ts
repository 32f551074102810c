import type { Resolution } from '../parameters/video-parameters.ts'

/**
 * What an upstream says of a finished video. Numbers stay the decimal text they arrived as
 * (`String` of a JSON number, or a digit string): settlement judges them, adapters only find them.
 */
export type VideoResult = {
  readonly videoUrl: string | undefined
  /** `usage.completion_tokens`, where the upstream counts tokens. */
  readonly completionTokens: string | undefined
  /** Seconds that the upstream bills: for edits input and output together. */
  readonly billableSeconds: string | undefined
  /** Length of the video itself, in seconds. */
  readonly outputSeconds: string | undefined
  /** The tier that was really made. */
  readonly resolution: Resolution | undefined
  readonly audio: boolean | undefined
}
