import { createHash } from 'node:crypto'
import { type OpenAiProblem, policyViolation, problemOfStatus } from './openai-errors.ts'
import type { OpenAiMagic } from './openai-magic-prompt.ts'

/** Most remembered prompts that `[error-once:STATUS]` has refused. */
const PROMPTS_MAX = 10_000

type Asked = { readonly prompt: string; readonly magic: OpenAiMagic; readonly model: string }

/** Refuses requests by the magic words of their prompts. */
export class AskedRefusals {
  /** Digests, since a prompt may be long. */
  readonly #refused = new Set<string>()

  /** Returns the refusal, or undefined for an accepted request. */
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
