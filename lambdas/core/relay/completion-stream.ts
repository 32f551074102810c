import type { CompletionRequest } from '../contract/completion-request.ts'
import { parseJsonObject } from '../json/json-object.ts'
import type { Microcredits } from '../money/money.ts'
import type { TokenCounts } from '../quota/token-counts.ts'
import { completionFinishReason, generatedText, membersOf, readChatIdentity } from './chat-choices.ts'
import { ChatStreamBrokenError } from './chat-stream-broken-error.ts'
import {
  type CompletionHead,
  completionChoice,
  completionHead,
  completionUsage,
  sumOfUsages,
} from './completion-reply.ts'
import {
  keepEvent,
  newCall,
  newStreamedPrompt,
  type PromptProgress,
  progressOf,
  type StreamedChoice,
  type StreamedPrompt,
} from './streamed-prompt.ts'

const DONE = '[DONE]'

/**
 * Turns the chat streams of several prompts, whose events may interleave in any order, into one stream of legacy
 * completions. Takes the data of each event, and returns what to write to the client.
 *
 * The echo comes before the first text of a completion, the suffix with its finish reason. Each chunk has one choice.
 */
export class CompletionStream {
  readonly #request: CompletionRequest
  readonly #fallback: CompletionHead
  readonly #prompts: readonly StreamedPrompt[]
  /** The part of every chunk before the elements of its choices; known with the first chunk. */
  #opening: string | undefined

  /** @param fallback replaces an id and a time that the upstream leaves out. */
  constructor(request: CompletionRequest, fallback: CompletionHead) {
    const { prompts, n, echo } = request
    this.#request = request
    this.#fallback = fallback
    this.#prompts = prompts.map((text, place) =>
      newStreamedPrompt({ echo: echo ? text : '', firstIndex: place * n, n }),
    )
  }

  /**
   * What to write for the data of one event of a prompt's stream; empty for an event without news for the client. The whole
   * reply of an upstream that does not stream is taken as one event.
   * @throws ChatStreamBrokenError when the event is an error.
   */
  push(promptIndex: number, payload: string): string {
    const prompt = this.#prompt(promptIndex)
    if (prompt.isDone) {
      return ''
    }
    if (payload.trim() === DONE) {
      prompt.isDone = true
      return this.#finishBegun(prompt)
    }
    const chunk = parseJsonObject(payload)
    if (chunk === undefined) {
      return ''
    }
    // An error may come with a usage.
    keepEvent(prompt, chunk, payload)
    if (chunk.error !== undefined && chunk.error !== null) {
      throw new ChatStreamBrokenError(payload)
    }
    const choices = Array.isArray(chunk.choices) ? chunk.choices.map(membersOf) : []
    return choices.map((choice) => this.#pushChoice(prompt, choice, chunk)).join('')
  }

  /** Whether `[DONE]` has come for the current call: nothing after it counts. */
  isDone(promptIndex: number): boolean {
    return this.#prompt(promptIndex).isDone
  }

  /** Whether the current call has written anything: if not, another call may replace it ({@link restartCall}). */
  hasBegun(promptIndex: number): boolean {
    return this.#prompt(promptIndex).wanted.some(({ state }) => state !== 'unbegun')
  }

  /**
   * Ends the current call. It has ended well if `[DONE]` has come, or the usage, which is always last, or the finish reason
   * of every completion. Completions that the upstream left out may be asked for again: the next events of this prompt are
   * those of a call for the missing ones.
   * @returns what to write, and how many completions are missing.
   * @throws ChatStreamBrokenError when the call did not end well.
   */
  endCall(promptIndex: number): { readonly text: string; readonly missing: number } {
    const prompt = this.#prompt(promptIndex)
    const isWhole = prompt.wanted.every(({ state }) => state === 'finished')
    if (!prompt.isDone && !isWhole && prompt.callUsage === undefined) {
      throw new ChatStreamBrokenError()
    }
    const text = this.#finishBegun(prompt)
    const missing = prompt.wanted.filter(({ state }) => state !== 'finished')
    prompt.ended.push({ ...progressOf(prompt), completions: prompt.wanted.length - missing.length })
    prompt.wanted = missing
    this.restartCall(promptIndex)
    return { text, missing: missing.length }
  }

  /** Limits the usage that the current call has reported. To be called before the call ends. */
  limitUsage(promptIndex: number, limit: (usage: TokenCounts) => TokenCounts): void {
    const prompt = this.#prompt(promptIndex)
    prompt.callUsage = prompt.callUsage && limit(prompt.callUsage)
  }

  /** Starts a new call: the next events are its first. */
  restartCall(promptIndex: number): void {
    Object.assign(this.#prompt(promptIndex), newCall())
  }

  /**
   * The end of the client's stream after every prompt: the usage, if asked for and known, and `[DONE]`.
   * @param cost shown in the usage; undefined for none.
   */
  finish(cost: Microcredits | undefined): string {
    const usage = sumOfUsages(this.#prompts.flatMap(({ ended }) => ended.map((call) => call.usage)))
    const chunk =
      this.#request.includeUsage && usage !== undefined
        ? event(`${this.#openingFor({})}],"usage":${JSON.stringify(completionUsage(usage, cost))}}`)
        : ''
    return chunk + event(DONE)
  }

  /** What there is to bill for a prompt, however it ends. */
  progress(promptIndex: number): PromptProgress {
    const prompt = this.#prompt(promptIndex)
    return {
      usage: sumOfUsages(prompt.ended.map(({ usage }) => usage)),
      answered: prompt.ended.filter(({ completions }) => completions > 0),
      underWay: progressOf(prompt),
    }
  }

  #prompt(promptIndex: number): StreamedPrompt {
    const prompt = this.#prompts[promptIndex]
    if (prompt === undefined) {
      throw new RangeError(`no prompt ${promptIndex}`)
    }
    return prompt
  }

  #pushChoice(prompt: StreamedPrompt, chatChoice: Members, chunk: Members): string {
    const choice = prompt.wanted[typeof chatChoice.index === 'number' ? chatChoice.index : 0]
    const text = generatedText(chatChoice.delta ?? chatChoice.message)
    const finishReason = completionFinishReason(chatChoice.finish_reason)
    if (choice === undefined || choice.state === 'finished' || (text === '' && finishReason === undefined)) {
      return ''
    }
    return this.#write(choice, { echo: prompt.echo, text, finishReason }, chunk)
  }

  /** An upstream that says `[DONE]` has finished every completion that it began, with or without a reason. */
  #finishBegun({ wanted, echo }: StreamedPrompt): string {
    const begun = wanted.filter(({ state }) => state === 'begun')
    return begun.map((choice) => this.#write(choice, { echo, text: '', finishReason: 'stop' }, {})).join('')
  }

  #write(choice: StreamedChoice, { echo, text, finishReason }: Piece, chunk: Members): string {
    const { suffix, includeUsage } = this.#request
    const before = choice.state === 'unbegun' ? echo : ''
    const after = finishReason === undefined ? '' : suffix
    choice.state = finishReason === undefined ? 'begun' : 'finished'
    const element = completionChoice({
      text: before + text + after,
      index: choice.index,
      finishReason: finishReason ?? null,
    })
    return event(`${this.#openingFor(chunk)}${JSON.stringify(element)}]${includeUsage ? ',"usage":null' : ''}}`)
  }

  /** All chunks of a stream have the same head: that of the first event with news for the client. */
  #openingFor(chunk: Members): string {
    if (this.#opening === undefined) {
      const { id, created } = completionHead(readChatIdentity(chunk), this.#fallback)
      const head = { id, object: 'text_completion', created, model: this.#request.model.id }
      this.#opening = `${JSON.stringify(head).slice(0, -1)},"choices":[`
    }
    return this.#opening
  }
}

type Members = Readonly<Record<string, unknown>>

/** The finish reason is undefined until a completion ends. */
type Piece = { readonly echo: string; readonly text: string; readonly finishReason: string | undefined }

/** One server-sent event. */
function event(data: string): string {
  return `data: ${data}\n\n`
}
