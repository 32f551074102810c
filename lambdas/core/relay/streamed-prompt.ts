import type { TokenCounts } from '../quota/token-counts.ts'
import { believedUsage, readTokenUsage } from '../quota/token-usage.ts'
import { usageOfChoice } from './choice-usage.ts'
import { generatedBytes, hasGenerated, utf8Length } from './generated-choices.ts'
import { readReplyMembers } from './reply-members.ts'

/** One completion while it is streamed. */
export type StreamedChoice = {
  /** Position among the completions of all prompts. */
  readonly index: number
  state: 'unbegun' | 'begun' | 'finished'
}

/** The state of one prompt's completions: those of its first call, and of the calls for missing ones. */
export type StreamedPrompt = {
  /** Comes before each completion. */
  readonly echo: string
  /** The completions that the current call is to fill: its choice `k` is the `k`th of them. */
  wanted: readonly StreamedChoice[]
  /** `[DONE]` has come for the current call. */
  isDone: boolean
  /** The usage that the current call reported: the last one counts, because some upstreams report a running total. */
  callUsage: TokenCounts | undefined
  /** Whether the current call has generated anything. */
  callHasGenerated: boolean
  /** Bytes that the current call has generated, in UTF-8: text, reasoning, tool arguments, refusals. */
  callTextBytes: number
  /** Every call that has ended. */
  readonly ended: EndedCall[]
}

/** The result of one call so far. */
type CallProgress = {
  /** Undefined where the call reported none, or none that is plausible. */
  readonly usage: TokenCounts | undefined
  /** Bytes generated, in UTF-8, whether a completion can express them or not. */
  readonly textBytes: number
}

/** `completions`: how many of the wanted completions the call gave. */
type EndedCall = CallProgress & { readonly completions: number }

/** A prompt before its first call: it wants `n` choices, numbered from `firstIndex` on. */
export function newStreamedPrompt({
  echo,
  firstIndex,
  n,
}: {
  echo: string
  firstIndex: number
  n: number
}): StreamedPrompt {
  const wanted = Array.from({ length: n }, (_, k): StreamedChoice => ({ index: firstIndex + k, state: 'unbegun' }))
  return { echo, wanted, ...newCall(), ended: [] }
}

/** The state of a call before its first event. */
export function newCall(): Pick<StreamedPrompt, 'isDone' | 'callUsage' | 'callHasGenerated' | 'callTextBytes'> {
  return { isDone: false, callUsage: undefined, callHasGenerated: false, callTextBytes: 0 }
}

/** What there is to bill for one prompt. */
export type PromptProgress = {
  /** Of all calls that have ended, if each of them reported one. */
  readonly usage: TokenCounts | undefined
  /** The calls that have ended and gave at least one completion. */
  readonly answered: readonly CallProgress[]
  /** The call that has not ended, if one was sent. */
  readonly underWay: CallProgress
}

/** The result of the current call so far. */
export function progressOf({ callUsage, callHasGenerated, callTextBytes }: StreamedPrompt): CallProgress {
  return { usage: believedUsage(callUsage, callHasGenerated), textBytes: callTextBytes }
}

/** Keeps what an event says of the current call. A usage of zeros does not replace another one. */
export function keepEvent(
  prompt: StreamedPrompt,
  { usage, choices }: Readonly<Record<string, unknown>>,
  data: string,
): void {
  const reported = readTokenUsage(usage ?? usageOfChoice(choices))
  prompt.callUsage = believedUsage(reported, prompt.callUsage !== undefined) ?? prompt.callUsage
  if (Array.isArray(choices) && choices.length > 0) {
    prompt.callHasGenerated ||= hasGenerated(choices)
    if (prompt.callHasGenerated) {
      prompt.callTextBytes += generatedBytes(readReplyMembers(data).choices ?? '', utf8Length)
    }
  }
}
