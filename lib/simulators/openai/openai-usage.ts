import { rawNumber } from '../shared/raw-number.ts'
import type { OpenAiMagic } from './openai-magic-prompt.ts'

/** Tokens of a request; `completion` is absent where nothing is generated. */
export type TokenCounts = { readonly prompt: number; readonly completion?: number }

/** The value of `usage`, unless `[no-usage]` leaves it out. */
export function usageOf({ prompt, completion }: TokenCounts, { flags, oddUsage }: OpenAiMagic): unknown {
  if (flags.has('no-usage')) {
    return undefined
  }
  const tokens = (count: number) => (oddUsage === undefined ? count : rawNumber(oddUsage))
  return {
    prompt_tokens: tokens(prompt),
    ...(completion !== undefined && { completion_tokens: tokens(completion) }),
    total_tokens: tokens(prompt + (completion ?? 0)),
    ...(flags.has('usage-details') &&
      completion !== undefined && {
        prompt_tokens_details: { cached_tokens: Math.floor(prompt / 2), audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      }),
  }
}

/** How the events of a stream carry the usage. */
export type StreamUsage = {
  /** On an event that is neither the last of a completion nor the one for the usage. */
  readonly onEvent: (counts: TokenCounts) => { usage?: unknown }
  /** On the event with the finish reason. */
  readonly onFinish: (counts: TokenCounts) => { usage?: unknown }
  /** On an event of its own at the end; undefined when there is no such event. */
  readonly atEnd: (counts: TokenCounts) => { usage: unknown } | undefined
}

/** As it was asked for, or as `[usage-every]`, `[usage-finish]` and `[no-usage]` say. */
export function streamUsage(isAsked: boolean, magic: OpenAiMagic): StreamUsage {
  const { flags } = magic
  const present = (counts: TokenCounts) => ({ usage: usageOf(counts, magic) })
  const usual = () => (isAsked ? { usage: null } : {})
  if (flags.has('no-usage')) {
    return { onEvent: () => ({}), onFinish: () => ({}), atEnd: () => undefined }
  }
  if (flags.has('usage-finish')) {
    return { onEvent: usual, onFinish: present, atEnd: () => undefined }
  }
  const onEvent = flags.has('usage-every') ? present : usual
  return { onEvent, onFinish: onEvent, atEnd: (counts) => (isAsked ? present(counts) : undefined) }
}
