import { createHash } from 'node:crypto'
import { type OpenAiProblem, policyViolation, problemOfStatus } from './openai-errors.ts'
import type { OpenAiMagic } from './openai-magic-prompt.ts'

/** Prompts that `[error-once:STATUS]` has refused are remembered up to this number. */
const PROMPTS_MAX = 10_000

type Asked = { readonly prompt: string; readonly magic: OpenAiMagic; readonly model: string }

/** Refuses requests whose prompt asks for it. */
export class AskedRefusals {
  /** Digests, since a prompt may be long. */
  readonly #refused = new Set<string>()

  /** The refusal; undefined when the request is to be answered. */
  answer({ prompt, magic, model }: Asked): OpenAiProblem | undefined {
    if (magic.error !== undefined && (!magic.error.isOnce || this.#isFirst(prompt))) {
      return problemOfStatus({ ...magic.error, model, retryAfter: magic.retryAfter })
    }
    return magic.policy === undefined ? undefined : policyViolation(magic.policy)
  }

  #isFirst(prompt: string): boolean {
    const digest = createHash('sha256').update(prompt).digest('base64')
    if (this.#refused.has(digest)) {
      return false
    }
    if (this.#refused.size >= PROMPTS_MAX) {
      this.#refused.clear()
    }
    this.#refused.add(digest)
    return true
  }
}
