import { rawNumber } from '../shared/raw-number.ts'
import type { OpenAiMagic } from './openai-magic-prompt.ts'

/** Tokens of a request; `completion` is absent if nothing is generated. */
export type TokenCounts = { readonly prompt: number; readonly completion?: number }

/** The value of `usage`, unless `[no-usage]` omits it. */
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

/** The usage in the events of a stream. */
export type StreamUsage = {
  /** In ordinary events. */
  readonly onEvent: (counts: TokenCounts) => { usage?: unknown }
  /** In the event with the finish reason. */
  readonly onFinish: (counts: TokenCounts) => { usage?: unknown }
  /** In a separate last event; undefined without one. */
  readonly atEnd: (counts: TokenCounts) => { usage: unknown } | undefined
}

/** Follows the request, unless `[usage-every]`, `[usage-finish]` or `[no-usage]` overrides it. */
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
