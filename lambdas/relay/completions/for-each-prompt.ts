import type { PromptCalls } from './prompt-calls.ts'

/** Prompts whose upstreams work at the same time, so that one request is no burst on a channel. */
export const PROMPTS_AT_ONCE = 8

/**
 * Runs the prompts in their order, {@link PROMPTS_AT_ONCE} at a time. No prompt starts after the calls have ended or the
 * client has left, and the first failure ends all calls.
 * @throws the first failure, after every prompt that was started has ended.
 */
export async function forEachPrompt<Prompt>(
  prompts: readonly Prompt[],
  calls: Pick<PromptCalls, 'mayCall' | 'end'>,
  run: (prompt: Prompt) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const waiting = prompts.values()
  const work = async () => {
    while (calls.mayCall) {
      const next = waiting.next()
      if (next.done) {
        return
      }
      try {
        await run(next.value)
      } catch (error) {
        failures.push(error)
        calls.end()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(PROMPTS_AT_ONCE, prompts.length) }, work))
  if (failures.length > 0) {
    throw failures[0]
  }
}
