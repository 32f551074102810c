import type { MagicPrompt, SubmitRefusal } from './magic-prompt.ts'
import type { JsonResponse, SimulatorResponse } from './simulator-server.ts'

/** The refusals of a provider. */
type RefusalWords = {
  readonly refused: (refusal: SubmitRefusal) => JsonResponse
  /** `[error:STATUS]`: any status from 400 to 599. */
  readonly failed: (status: number) => JsonResponse
}

/** Most remembered prompts that `[busy]` has refused once. */
const BUSY_PROMPTS_MAX = 10_000

/** Refuses, ignores or resets submits by their prompts. */
export class SubmitTricks {
  readonly #words: RefusalWords
  readonly #busyPrompts = new Set<string>()

  constructor(words: RefusalWords) {
    this.#words = words
  }

  /** Returns the response of a refused submit, or undefined for an accepted one. */
  answer(prompt: string, magic: MagicPrompt): SimulatorResponse | undefined {
    if (magic.submitSilence !== undefined) {
      return { kind: magic.submitSilence }
    }
    if (magic.submitErrorStatus !== undefined) {
      return this.#words.failed(magic.submitErrorStatus)
    }
    if (magic.refusal === undefined || (magic.refusal === 'busy' && !this.#isFirst(prompt))) {
      return undefined
    }
    return this.#words.refused(magic.refusal)
  }

  #isFirst(prompt: string): boolean {
    if (this.#busyPrompts.has(prompt)) {
      return false
    }
    if (this.#busyPrompts.size >= BUSY_PROMPTS_MAX) {
      this.#busyPrompts.clear()
    }
    this.#busyPrompts.add(prompt)
    return true
  }
}

/** Delays the response of an accepted submit for `[late:SECONDS]`. */
export function delayed(answer: JsonResponse, magic: MagicPrompt): JsonResponse {
  return magic.submitDelaySeconds === undefined ? answer : { ...answer, delaySeconds: magic.submitDelaySeconds }
}
