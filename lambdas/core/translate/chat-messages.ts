import type { JsonObject } from '../json/parse-json-text.ts'

/** A part of a chat message that has a text, or an image. */
export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } }

/** A call of a function, as chat upstreams read it. */
export type ChatCall = {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** The texts of parts, joined. */
export function textOf(parts: readonly ChatPart[], separator: string): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator)
}

/** Texts alone are a string, which every upstream takes. */
export function contentOf(parts: readonly ChatPart[]): string | readonly ChatPart[] {
  return parts.every(({ type }) => type === 'text') ? textOf(parts, '\n\n') : parts
}

type Group = { readonly calls: ChatCall[]; content: string; reasoning: string }

/** The field by which a channel takes the reasoning of earlier turns; undefined for none. */
export type ReasoningField = 'reasoning_content' | 'reasoning' | undefined

/** The field that the settings of a channel name. */
export function reasoningFieldOf(passed: readonly string[]): ReasoningField {
  return (['reasoning_content', 'reasoning'] as const).find((name) => passed.includes(`messages.${name}`))
}

/**
 * Puts messages in the order that chat upstreams insist on: the calls of one turn stand in one message, and their outputs follow it, all of
 * them, before anything else.
 */
export class ChatMessages {
  readonly #messages: JsonObject[] = []
  readonly #reasoningField: ReasoningField
  readonly #outputs: ReadonlyMap<string, readonly ChatPart[]>
  readonly #answered = new Set<string>()
  #open: Group | undefined
  #reasoning = ''
  /** What stands between the calls of a turn and the end of the turn. */
  #deferred: JsonObject[] = []

  /** @param outputs of calls, by their ids. */
  constructor(outputs: ReadonlyMap<string, readonly ChatPart[]>, reasoningField: ReasoningField) {
    this.#outputs = outputs
    this.#reasoningField = reasoningField
  }

  reasoning(text: string): void {
    this.#reasoning += text
  }

  /** Text of the assistant goes with the calls that follow it. */
  assistant(content: string): void {
    if (this.#open !== undefined && this.#open.calls.length > 0) {
      this.#deferred.push({ role: 'assistant', content })
    } else {
      this.#close()
      this.#open = { calls: [], content, reasoning: this.#takeReasoning() }
    }
  }

  call(call: ChatCall): void {
    this.#open ??= { calls: [], content: '', reasoning: this.#takeReasoning() }
    this.#open.calls.push(call)
  }

  /** The output of a call has come. Of a call that nobody made, it stands where it is. */
  output(id: string): void {
    this.#close()
    if (!this.#answered.has(id)) {
      this.#answer(id)
    }
  }

  other(message: JsonObject): void {
    this.#close()
    this.#messages.push(message)
  }

  end(): readonly JsonObject[] {
    this.#close()
    return this.#messages
  }

  #takeReasoning(): string {
    const text = this.#reasoning
    this.#reasoning = ''
    return text
  }

  #close(): void {
    const group = this.#open
    if (group === undefined) {
      return
    }
    this.#open = undefined
    const { calls, content, reasoning } = group
    const thought = this.#reasoningField !== undefined && reasoning !== '' ? { [this.#reasoningField]: reasoning } : {}
    this.#messages.push(
      calls.length === 0
        ? { role: 'assistant', content, ...thought }
        : { role: 'assistant', content: content === '' ? null : content, tool_calls: calls, ...thought },
    )
    const images = calls.flatMap(({ id }) => (this.#outputs.has(id) && !this.#answered.has(id) ? this.#answer(id) : []))
    if (images.length > 0) {
      this.#messages.push({ role: 'user', content: images })
    }
    this.#messages.push(...this.#deferred)
    this.#deferred = []
  }

  /** @returns the images of the output, which a message of a tool cannot hold. */
  #answer(id: string): readonly ChatPart[] {
    const parts = this.#outputs.get(id) ?? []
    this.#answered.add(id)
    this.#messages.push({ role: 'tool', tool_call_id: id, content: textOf(parts, '\n') })
    return parts.filter(({ type }) => type === 'image_url')
  }
}
