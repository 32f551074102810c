import { parseJsonObject } from '../json/json-object.ts'
import type { TokenCounts } from '../quota/token-counts.ts'
import { believedUsage, readTokenUsage } from '../quota/token-usage.ts'
import { hasGenerated, hasMessage } from './generated-choices.ts'

/** One completion as a chat upstream gave it. */
export type ChatChoice = { readonly content: string; readonly finishReason: string }

/** The parts of a chat reply that a legacy completion can express. */
export type ChatChoices = ChatIdentity & {
  readonly choices: readonly ChatChoice[]
  /** Undefined when the upstream reports none, or none that can be believed. */
  readonly usage: TokenCounts | undefined
}

/** Id and time of a chat reply and of each chunk of a stream; undefined where an upstream leaves them out. */
export type ChatIdentity = {
  readonly id: string | undefined
  /** Unix seconds. */
  readonly created: number | undefined
}

type Members = Readonly<Record<string, unknown>>

/**
 * Reads a whole chat reply. Choices without any message count as none, unless a usage says what they cost. Undefined for a
 * string that is not a JSON object with choices.
 */
export function readChatChoices(text: string): ChatChoices | undefined {
  const answer = parseJsonObject(text)
  if (answer === undefined || !Array.isArray(answer.choices)) {
    return undefined
  }
  const usage = believedUsage(readTokenUsage(answer.usage), hasGenerated(answer.choices))
  const choices = usage === undefined && !hasMessage(answer.choices) ? [] : inOrder(answer.choices)
  return { ...readChatIdentity(answer), choices, usage }
}

/** Upstreams may write choices in any order: `index` counts, or the position where there is no index. */
function inOrder(choices: readonly unknown[]): ChatChoice[] {
  return choices
    .map((each, place) => {
      const choice = membersOf(each)
      return { choice, order: typeof choice.index === 'number' ? choice.index : place }
    })
    .toSorted((left, right) => left.order - right.order)
    .map(({ choice }) => ({
      content: generatedText(choice.message),
      finishReason: completionFinishReason(choice.finish_reason) ?? 'stop',
    }))
}

/**
 * The reason in the words of the older interface, where a tool call is a stop; other words are passed on.
 * Undefined while there is none.
 */
export function completionFinishReason(reason: unknown): string | undefined {
  if (typeof reason !== 'string') {
    return undefined
  }
  return reason === 'tool_calls' || reason === 'function_call' ? 'stop' : reason
}

/** The text of a message or a delta: its content as such or in parts. A tool call and a refusal have none. */
export function generatedText(message: unknown): string {
  const { content } = membersOf(message)
  if (Array.isArray(content)) {
    return content.map((part) => textOf(membersOf(part).text)).join('')
  }
  return textOf(content)
}

/** Id and time (Unix seconds) of a reply; undefined where the upstream sent something else. */
export function readChatIdentity({ id, created }: Members): ChatIdentity {
  return {
    id: typeof id === 'string' && id !== '' ? id : undefined,
    created: typeof created === 'number' && Number.isSafeInteger(created) && created >= 0 ? created : undefined,
  }
}

/** The fields of what should be an object; no fields for anything else. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
