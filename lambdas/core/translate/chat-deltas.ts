import { isJsonObject, type JsonObject, objectsOf } from '../json/parse-json-text.ts'
import { EndlessEventError } from '../relay/sse-events.ts'

/** Why a reply with such a call cannot be told in another API. */
export const NO_NAME = 'the upstream called a tool without a name'

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
  /** Links to where the text comes from. */
  readonly annotations: readonly JsonObject[]
  readonly finishReason: string | undefined
  /** Of the usage, if the chunk has one. */
  readonly reasoningTokens: number | undefined
}

/** More of one reply is not held: no model generates as much. */
const HELD_CHARACTERS_MAX = 16 * 1024 * 1024

/** What a piece of a reply, and the begin of a part of it, take in memory beside their characters. */
const PIECE_CHARACTERS = 8
const PART_CHARACTERS = 512

type Call = { readonly key: string; id: string | undefined; hasName: boolean }

/** Reads the chunks of one chat stream, of which only the first choice counts. */
export class ChatDeltaReader {
  /** The call that came last under each index: some upstreams send every call under the same one. */
  readonly #calls = new Map<number, Call>()
  #count = 0
  /** All that translators hold of the reply. */
  #characters = 0
  #isReasoning = false

  /** @throws EndlessEventError for more than any model generates. */
  read(chunk: JsonObject): ChatDelta {
    const choices = objectsOf(chunk.choices)
    const choice = choices.find(({ index }) => index === undefined || index === 0) ?? {}
    const delta = fieldsOf(choice.delta ?? choice.message)
    const { finish_reason: reason } = choice
    const read = {
      text: contentText(delta.content),
      reasoning: stringOf(delta.reasoning_content) || stringOf(delta.reasoning),
      refusal: stringOf(delta.refusal),
      calls: this.#readCalls(delta),
      logprobs: listOf(fieldsOf(choice.logprobs).content),
      annotations: objectsOf(delta.annotations),
      finishReason: typeof reason === 'string' ? reason : undefined,
      reasoningTokens: reasoningTokensOf(chunk.usage),
    }
    this.#weigh(read)
    if (this.#characters > HELD_CHARACTERS_MAX) {
      throw new EndlessEventError(true)
    }
    return read
  }

  #weigh({ text, reasoning, refusal, calls, logprobs, annotations }: ChatDelta): void {
    for (const piece of [text, reasoning, refusal, ...calls.map((call) => call.arguments)]) {
      this.#characters += piece === '' ? 0 : piece.length + PIECE_CHARACTERS
    }
    for (const list of [logprobs, annotations]) {
      this.#characters += list.length === 0 ? 0 : JSON.stringify(list).length
    }
    // Reasoning between texts is a part of its own each time.
    if (reasoning !== '' || text !== '') {
      this.#characters += (reasoning !== '') === this.#isReasoning ? 0 : PART_CHARACTERS
      this.#isReasoning = reasoning !== ''
    }
  }

  #readCalls({ tool_calls: calls, function_call: older }: JsonObject): readonly CallDelta[] {
    const listed = objectsOf(calls)
    const all = isJsonObject(older) ? [...listed, { index: 0, function: older }] : listed
    return all.map((call, place) => {
      const called = fieldsOf(call.function)
      const id = stringOf(call.id) || undefined
      const name = stringOf(called.name) || undefined
      const own = this.#callOf(typeof call.index === 'number' ? call.index : place, id)
      if (!own.hasName && name !== undefined) {
        own.hasName = true
        this.#characters += name.length
      }
      return { key: own.key, id, name, arguments: argumentsOf(called.arguments) }
    })
  }

  #callOf(index: number, id: string | undefined): Call {
    const known = this.#calls.get(index)
    if (known !== undefined && (id === undefined || known.id === undefined || id === known.id)) {
      return known
    }
    const call = { key: String(this.#count), id, hasName: false }
    this.#count += 1
    this.#calls.set(index, call)
    this.#characters += PART_CHARACTERS + (id?.length ?? 0)
    return call
  }
}

/** A whole chat reply as the one chunk of a stream. */
export function asChunk({ choices, ...rest }: JsonObject): JsonObject {
  const chunks = objectsOf(choices).map(({ message, ...choice }) => ({ ...choice, delta: message }))
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
