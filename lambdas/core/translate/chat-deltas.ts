import { isJsonObject, type JsonObject } from '../json/parse-json-text.ts'
import { EndlessEventError } from '../relay/sse-events.ts'

/** A piece of a call of a function. */
export type CallDelta = {
  /** The same for all pieces of one call. */
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly arguments: string
}

/** What one chunk of a chat stream adds to its only choice. Empty strings and lists add nothing. */
export type ChatDelta = {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly calls: readonly CallDelta[]
  readonly logprobs: readonly unknown[]
  readonly finishReason: string | undefined
  /** Of the usage, if the chunk has one. */
  readonly reasoningTokens: number | undefined
}

/** More of one reply is not held: no model generates as much. */
const HELD_CHARACTERS_MAX = 16 * 1024 * 1024

/** Reads the chunks of one chat stream, of which only the first choice counts. */
export class ChatDeltaReader {
  /** The call that came last under each index: some upstreams send every call under the same one. */
  readonly #calls = new Map<number, { key: string; id: string | undefined }>()
  #count = 0
  #characters = 0

  /** @throws EndlessEventError for more than any model generates. */
  read(chunk: JsonObject): ChatDelta {
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isJsonObject) : []
    const choice = choices.find(({ index }) => index === undefined || index === 0) ?? {}
    const delta = fieldsOf(choice.delta ?? choice.message)
    const { finish_reason: reason } = choice
    const read = {
      text: contentText(delta.content),
      reasoning: stringOf(delta.reasoning_content) || stringOf(delta.reasoning),
      refusal: stringOf(delta.refusal),
      calls: this.#readCalls(delta),
      logprobs: listOf(fieldsOf(choice.logprobs).content),
      finishReason: typeof reason === 'string' ? reason : undefined,
      reasoningTokens: reasoningTokensOf(chunk.usage),
    }
    this.#characters += read.text.length + read.reasoning.length + read.refusal.length
    this.#characters += read.calls.reduce((sum, call) => sum + call.arguments.length, 0)
    if (this.#characters > HELD_CHARACTERS_MAX) {
      throw new EndlessEventError(true)
    }
    return read
  }

  #readCalls({ tool_calls: calls, function_call: older }: JsonObject): readonly CallDelta[] {
    const listed = listOf(calls).filter(isJsonObject)
    const all = isJsonObject(older) ? [...listed, { index: 0, function: older }] : listed
    return all.map((call, place) => {
      const called = fieldsOf(call.function)
      const id = stringOf(call.id) || undefined
      const index = typeof call.index === 'number' ? call.index : place
      const known = this.#calls.get(index)
      const isNew = known === undefined || (id !== undefined && known.id !== undefined && id !== known.id)
      const own = isNew ? { key: String(this.#count), id } : known
      if (isNew) {
        this.#count += 1
        this.#calls.set(index, own)
      }
      return { key: own.key, id, name: stringOf(called.name) || undefined, arguments: argumentsOf(called.arguments) }
    })
  }
}

/** A whole chat reply as the one chunk of a stream. */
export function asChunk({ choices, ...rest }: JsonObject): JsonObject {
  const chunks = listOf(choices)
    .filter(isJsonObject)
    .map(({ message, ...choice }) => ({ ...choice, delta: message }))
  return { ...rest, choices: chunks }
}

function argumentsOf(value: unknown): string {
  return isJsonObject(value) ? JSON.stringify(value) : stringOf(value)
}

function contentText(content: unknown): string {
  return Array.isArray(content)
    ? content.map((part: unknown) => stringOf(fieldsOf(part).text)).join('')
    : stringOf(content)
}

function reasoningTokensOf(usage: unknown): number | undefined {
  const { reasoning_tokens: tokens } = fieldsOf(fieldsOf(usage).completion_tokens_details)
  return typeof tokens === 'number' ? tokens : undefined
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
