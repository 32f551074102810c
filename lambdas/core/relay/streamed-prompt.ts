import { believedUsage, type ChatUsage, readChatUsage } from '../quota/token-usage.ts'
import { generatedBytes, hasGenerated, utf8Length } from './generated-choices.ts'
import { readReplyMembers } from './reply-members.ts'

/** One completion of the answer, while it is streamed. */
export type StreamedChoice = {
  /** Its place among the completions of all prompts. */
  readonly index: number
  state: 'unbegun' | 'begun' | 'finished'
}

/** How far the completions of one prompt have come: those of its first call, and of the calls for missing ones. */
export type StreamedPrompt = {
  /** What stands before each completion. */
  readonly echo: string
  /** What the call under way is to fill: its choice `k` is the `k`th of them. */
  wanted: readonly StreamedChoice[]
  /** `[DONE]` has come for the call under way. */
  isDone: boolean
  /** Reported by the call under way: the last one counts, because some upstreams report a running total. */
  callUsage: ChatUsage | undefined
  /** Whether the call under way has generated anything. */
  callHasGenerated: boolean
  /** What the call under way has generated, in UTF-8: text, reasoning, tool arguments, refusals. */
  callTextBytes: number
  /** Every call that came to its end. */
  readonly ended: EndedCall[]
}

/** What has come of one call. */
type CallProgress = {
  /** Undefined where it reported none, or none that can be believed. */
  readonly usage: ChatUsage | undefined
  /** What was generated, in UTF-8, whether a completion can say it or not. */
  readonly textBytes: number
}

/** `completions`: how many of those that were wanted it gave. */
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

/** What has come of a call before its first event. */
export function newCall(): Pick<StreamedPrompt, 'isDone' | 'callUsage' | 'callHasGenerated' | 'callTextBytes'> {
  return { isDone: false, callUsage: undefined, callHasGenerated: false, callTextBytes: 0 }
}

/** How far the completions of one prompt have come. */
export type PromptProgress = {
  /** Of all calls that came to their end, if each of them reported one. */
  readonly usage: ChatUsage | undefined
  /** The calls that came to their end and gave a completion at least. */
  readonly answered: readonly CallProgress[]
  /** The call that has not, if one was sent. */
  readonly underWay: CallProgress
}

/** What has come of the call under way. */
export function progressOf({ callUsage, callHasGenerated, callTextBytes }: StreamedPrompt): CallProgress {
  return { usage: believedUsage(callUsage, callHasGenerated), textBytes: callTextBytes }
}

/** Keeps what an event says of the call under way. Zeros do not take the place of a usage that says something. */
export function keepEvent(
  prompt: StreamedPrompt,
  { usage, choices }: Readonly<Record<string, unknown>>,
  data: string,
): void {
  prompt.callUsage = believedUsage(readChatUsage(usage), prompt.callUsage !== undefined) ?? prompt.callUsage
  if (Array.isArray(choices) && choices.length > 0) {
    prompt.callHasGenerated ||= hasGenerated(choices)
    if (prompt.callHasGenerated) {
      prompt.callTextBytes += generatedBytes(readReplyMembers(data).choices ?? '', utf8Length)
    }
  }
}
